package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
)

// steering is what POST /streams takes: do Action to the replies that are open now and match.
type steering struct {
	Method string `json:"method,omitempty"`
	Path   string `json:"path,omitempty"`
	Action string `json:"action"` // cut, end, expire, stall; or resume, which ends a stall.
}

// controlHandler is the proxy's other face:
//
//	GET    /rules        all, with how often they matched and applied
//	POST   /rules        adds a rule; the answer is the rule with its id
//	DELETE /rules        removes all; DELETE /rules/ID one
//	POST   /streams      steers the open replies; the answer says how many they were
func controlHandler(rules *ruleBook, streams *streams) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /rules", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, rules.list())
	})
	mux.HandleFunc("POST /rules", func(w http.ResponseWriter, r *http.Request) {
		rule := new(Rule)
		if err := decode(r, rule); err != nil {
			refuse(w, err)
		} else if _, err := rules.add(rule); err != nil {
			refuse(w, err)
		} else {
			reply(w, rule)
		}
	})
	mux.HandleFunc("DELETE /rules", func(http.ResponseWriter, *http.Request) {
		rules.remove(0)
	})
	mux.HandleFunc("DELETE /rules/{id}", func(w http.ResponseWriter, r *http.Request) {
		text := r.PathValue("id")
		if id, err := strconv.Atoi(text); err != nil || id <= 0 || !rules.remove(id) {
			http.Error(w, fmt.Sprintf("there is no rule %q", text), http.StatusNotFound)
		}
	})
	mux.HandleFunc("POST /streams", func(w http.ResponseWriter, r *http.Request) {
		var s steering
		if err := decode(r, &s); err != nil {
			refuse(w, err)
		} else if steered, err := s.apply(streams); err != nil {
			refuse(w, err)
		} else {
			reply(w, map[string]int{"streams": steered})
		}
	})
	return mux
}

func (s steering) apply(streams *streams) (int, error) {
	method, err := regexp.Compile(s.Method)
	if err != nil {
		return 0, fmt.Errorf("method: %w", err)
	}
	path, err := regexp.Compile(s.Path)
	if err != nil {
		return 0, fmt.Errorf("path: %w", err)
	}
	if s.Action == "resume" {
		return streams.steer(method, path, ""), nil
	}
	known := []string{actionCut, actionEnd, actionExpire, actionStall}
	if !slices.Contains(known, s.Action) {
		return 0, fmt.Errorf("action: %q is none of %v, resume", s.Action, known)
	}
	return streams.steer(method, path, s.Action), nil
}

// decode refuses fields that it does not know: a misspelt one would be a rule that does something
// else.
func decode(r *http.Request, into any) error {
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

func refuse(w http.ResponseWriter, err error) { http.Error(w, err.Error(), http.StatusBadRequest) }

func reply(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(value)
}
