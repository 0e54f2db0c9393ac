package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http"
	"regexp"
	"sync"
)

// streams knows the replies that are being read at the moment, so that they can be cut and stalled
// from outside.
type streams struct {
	mutex sync.Mutex // Guards open, and the state of each stream.
	open  map[*stream]struct{}
}

// stream is the body of a reply on its way to the client. `what` is the action that befalls it, ""
// for none yet; it takes place before anything else is read.
type stream struct {
	all     *streams
	request *http.Request
	body    io.ReadCloser
	changed chan struct{} // Closed, and made anew, when `what` changes.
	what    string

	// A rule's action waits for this many more ends of lines. Used by Read alone, as all below.
	later  string
	lines  int
	reader *bufio.Reader  // Of body, where there is such a rule.
	left   *regexp.Regexp // Lines that are left out; nil: none are.
	whole  []byte         // What was not read yet of a line that is not left out.
	last   *bytes.Reader  // The last words of `expire`.
}

func newStreams() *streams { return &streams{open: map[*stream]struct{}{}} }

func (s *streams) wrap(r *http.Request, body io.ReadCloser, rule *Rule) *stream {
	wrapped := &stream{all: s, request: r, body: body, changed: make(chan struct{})}
	if rule != nil {
		wrapped.reader = bufio.NewReader(body)
	}
	if rule != nil && rule.Action == actionSwallow {
		wrapped.left = rule.line
	} else if rule != nil {
		wrapped.later, wrapped.lines = rule.Action, rule.AfterLines
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.open[wrapped] = struct{}{}
	return wrapped
}

// steer does `what` to the open streams whose request matches, and answers how many they are. ""
// lets stalled ones go on.
func (s *streams) steer(method, path *regexp.Regexp, what string) int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	steered := 0
	for one := range s.open {
		r := one.request
		if method.MatchString(r.Method) && path.MatchString(r.URL.RequestURI()) {
			one.become(what)
			steered++
		}
	}
	return steered
}

// become needs the mutex.
func (s *stream) become(what string) {
	s.what = what
	close(s.changed)
	s.changed = make(chan struct{})
	if what != "" && what != actionStall {
		// Whoever is inside Read waits for the server, which may have nothing to say.
		go s.body.Close()
	}
}

func (s *stream) state() (string, <-chan struct{}) {
	s.all.mutex.Lock()
	defer s.all.mutex.Unlock()
	return s.what, s.changed
}

// Read looks at what befalls the stream before it waits for the server and again before it hands on
// what came: what arrives in a stall is held until the stall ends, what arrives in a cut is lost.
func (s *stream) Read(into []byte) (n int, err error) {
	if s.later != "" && s.lines == 0 {
		s.all.mutex.Lock()
		s.become(s.later)
		s.later = ""
		s.all.mutex.Unlock()
	}
	for isRead := false; ; {
		what, changed := s.state()
		switch {
		case what == "" && isRead:
			return n, err
		case what == "":
			n, err = s.readOn(into)
			isRead = true
		case what == actionStall:
			select {
			case <-changed:
			case <-s.request.Context().Done():
				return 0, s.request.Context().Err()
			}
		case what == actionExpire:
			return s.sayLast(into)
		case what == actionEnd:
			return 0, io.EOF
		default:
			return 0, errDropped
		}
	}
}

// readOn reads from the server, at most up to the end of the next line while a rule counts lines.
func (s *stream) readOn(into []byte) (int, error) {
	if s.reader == nil {
		return s.body.Read(into)
	}
	if s.left != nil {
		return s.readKept(into)
	}
	if _, err := s.reader.Peek(1); err != nil {
		return 0, err
	}
	ready, _ := s.reader.Peek(min(s.reader.Buffered(), len(into)))
	if end := bytes.IndexByte(ready, '\n'); end >= 0 && s.later != "" {
		ready = ready[:end+1]
		s.lines--
	}
	n := copy(into, ready)
	s.reader.Discard(n)
	return n, nil
}

// readKept reads line by line, and hands on the next one that is not left out.
func (s *stream) readKept(into []byte) (int, error) {
	for len(s.whole) == 0 {
		line, err := s.reader.ReadBytes('\n')
		if s.left.Match(line) {
			log.Printf("%s: a line is left out", s.request.URL.RequestURI())
		} else {
			s.whole = line
		}
		if err != nil && len(s.whole) == 0 {
			return 0, err
		}
	}
	n := copy(into, s.whole)
	s.whole = s.whole[n:]
	return n, nil
}

func (s *stream) sayLast(into []byte) (int, error) {
	if s.last == nil {
		object := status(http.StatusGone, "too old resource version", 0)
		s.last = bytes.NewReader(fmt.Appendf(nil, "{\"type\":\"ERROR\",\"object\":%s}\n", object))
	}
	return s.last.Read(into)
}

func (s *stream) Close() error {
	s.all.mutex.Lock()
	delete(s.all.open, s)
	what := s.what
	s.all.mutex.Unlock()
	if what != "" {
		log.Printf("%s %s: stream: %s", s.request.Method, s.request.URL.RequestURI(), what)
	}
	return s.body.Close()
}
