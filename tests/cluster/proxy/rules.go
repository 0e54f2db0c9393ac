package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"sync"
	"time"
)

// What a rule does to a request that it applies to. Each of them waits for Delay first.
const (
	actionDelay       = "delay"        // Nothing else.
	actionAnswer      = "answer"       // Answers Status itself; the server never sees the request.
	actionDropRequest = "drop-request" // Breaks the connection; the server never sees the request.
	actionDropReply   = "drop-reply"   // Lets the server answer, then breaks the connection.
	actionCut         = "cut"          // Breaks the connection after AfterLines lines of the reply.
	actionEnd         = "end"          // Ends the reply in order after AfterLines lines.
	actionExpire      = "expire"       // As `end`, with an ERROR event, 410 Expired, as last line.
	actionStall       = "stall"        // After AfterLines lines sends nothing, but stays connected.
	actionSwallow     = "swallow"      // Leaves out the lines of the reply that match Line.
)

var actions = []string{actionDelay, actionAnswer, actionDropRequest, actionDropReply,
	actionCut, actionEnd, actionExpire, actionStall, actionSwallow}

var statuses = map[int]string{
	http.StatusConflict:            "Conflict",
	http.StatusGone:                "Expired",
	http.StatusTooManyRequests:     "TooManyRequests",
	http.StatusInternalServerError: "InternalError",
	http.StatusServiceUnavailable:  "ServiceUnavailable",
}

// Rule says which requests it is for, how often it applies, and what it does. The first rule that
// applies wins.
type Rule struct {
	ID int `json:"id"`
	// Regular expressions, anywhere in the method and in the path with its query. Empty: all.
	Method string `json:"method,omitempty"`
	Path   string `json:"path,omitempty"`
	// The first Skip requests that match pass; then it applies to Count of them (0: without end),
	// to each with Probability (0: always). It draws once for each request that matches, and Seed
	// makes the draws the same again.
	Skip        int     `json:"skip,omitempty"`
	Count       int     `json:"count,omitempty"`
	Probability float64 `json:"probability,omitempty"`
	Seed        uint64  `json:"seed,omitempty"`

	Action     string   `json:"action"`
	Delay      Duration `json:"delay,omitempty"`
	Status     int      `json:"status,omitempty"`     // `answer`: 409, 410, 429, 500 or 503.
	RetryAfter int      `json:"retryAfter,omitempty"` // `answer`: seconds; 0 leaves the header out.
	AfterLines int      `json:"afterLines,omitempty"` // `cut` to `stall`; a watch's event is a line.
	Line       string   `json:"line,omitempty"`       // `swallow`: a regular expression.

	// How many requests matched, and to how many it applied.
	Matched int `json:"matched"`
	Applied int `json:"applied"`

	method, path, line *regexp.Regexp
	draw               *rand.Rand
}

// Duration is written as Go writes it: "1.5s".
type Duration time.Duration

func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

func (d *Duration) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("a time is a string like \"1.5s\": %w", err)
	}
	value, err := time.ParseDuration(text)
	if err == nil && value < 0 {
		err = fmt.Errorf("%s is negative", text)
	}
	*d = Duration(value)
	return err
}

// prepare checks what was sent and makes it ready to match.
func (r *Rule) prepare(id int) (err error) {
	if r.method, err = regexp.Compile(r.Method); err != nil {
		return fmt.Errorf("method: %w", err)
	}
	if r.path, err = regexp.Compile(r.Path); err != nil {
		return fmt.Errorf("path: %w", err)
	}
	if r.line, err = regexp.Compile(r.Line); err != nil {
		return fmt.Errorf("line: %w", err)
	}
	switch {
	case !slices.Contains(actions, r.Action):
		return fmt.Errorf("action: %q is none of %v", r.Action, actions)
	case r.Action == actionAnswer && statuses[r.Status] == "":
		return fmt.Errorf("status: %d is none of 409, 410, 429, 500, 503", r.Status)
	case r.Action != actionAnswer && (r.Status != 0 || r.RetryAfter != 0):
		return fmt.Errorf("status and retryAfter belong to the action %q", actionAnswer)
	case (r.Action == actionSwallow) != (r.Line != ""):
		return fmt.Errorf("line belongs to the action %q, which needs one", actionSwallow)
	case r.Action == actionDelay && r.Delay == 0:
		return fmt.Errorf("delay: say how long")
	case r.Skip < 0 || r.Count < 0 || r.AfterLines < 0 || r.RetryAfter < 0:
		return fmt.Errorf("skip, count, afterLines and retryAfter are not negative")
	case r.Probability < 0 || r.Probability > 1:
		return fmt.Errorf("probability: %v is not between 0 and 1", r.Probability)
	}
	r.ID, r.Matched, r.Applied = id, 0, 0
	r.draw = rand.New(rand.NewPCG(r.Seed, 0))
	return nil
}

func (r *Rule) matches(method, path string) bool {
	return r.method.MatchString(method) && r.path.MatchString(path)
}

// applies to a request that matches. It draws for each, also when the draw decides nothing: so what
// a rule draws for its n-th request does not depend on the other fields.
func (r *Rule) applies() bool {
	r.Matched++
	drawn := r.draw.Float64()
	if r.Matched <= r.Skip || (r.Count > 0 && r.Applied >= r.Count) {
		return false
	}
	if r.Probability > 0 && drawn >= r.Probability {
		return false
	}
	r.Applied++
	return true
}

// ruleBook holds the rules in the order in which they were told; it begins empty. Safe for use by
// many goroutines.
type ruleBook struct {
	mutex sync.Mutex // Guards all below.
	rules []*Rule
	last  int
}

// add takes the rule over; its ID is the answer.
func (b *ruleBook) add(r *Rule) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if err := r.prepare(b.last + 1); err != nil {
		return 0, err
	}
	b.last++
	b.rules = append(b.rules, r)
	return r.ID, nil
}

// remove takes out one rule, or all for 0; false if there is no such rule.
func (b *ruleBook) remove(id int) bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	before := len(b.rules)
	b.rules = slices.DeleteFunc(b.rules, func(r *Rule) bool { return id == 0 || r.ID == id })
	return id == 0 || len(b.rules) < before
}

// list answers copies, with their counts as of now.
func (b *ruleBook) list() []Rule {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	copies := make([]Rule, 0, len(b.rules))
	for _, r := range b.rules {
		copies = append(copies, *r)
	}
	return copies
}

// decide answers the rule that applies to a request, or nil.
func (b *ruleBook) decide(method, path string) *Rule {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	for _, r := range b.rules {
		if r.matches(method, path) && r.applies() {
			chosen := *r
			return &chosen
		}
	}
	return nil
}
