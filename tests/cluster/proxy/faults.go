package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"strconv"
	"time"
)

// faults carries a request to the API server, through the rules. An error of RoundTrip breaks the
// client's connection.
type faults struct {
	rules        *ruleBook
	streams      *streams
	asClient     http.RoundTripper // For requests with a token or with nothing.
	asFrontProxy http.RoundTripper // For requests whose identity is in the headers.
}

var errDropped = errors.New("told so by a rule")

func (f *faults) RoundTrip(r *http.Request) (*http.Response, error) {
	rule := f.rules.decide(r.Method, r.URL.RequestURI())
	if rule == nil {
		return f.forward(r, nil)
	}
	log.Printf("%s %s: rule %d: %s", r.Method, r.URL.RequestURI(), rule.ID, rule.Action)
	if rule.Delay > 0 {
		select {
		case <-time.After(time.Duration(rule.Delay)):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	switch rule.Action {
	case actionAnswer:
		return answer(r, rule), nil
	case actionDropRequest:
		return nil, errDropped
	case actionDropReply:
		response, err := f.forward(r, nil)
		if err != nil {
			return nil, err
		}
		// The server is done only when its reply is there in full.
		_, err = io.Copy(io.Discard, response.Body)
		return nil, errors.Join(errDropped, err, response.Body.Close())
	case actionDelay:
		return f.forward(r, nil)
	}
	return f.forward(r, rule)
}

// forward answers the server's response, whose body is a stream that can be steered while it is
// read. The rule, if any, is about that stream.
func (f *faults) forward(r *http.Request, rule *Rule) (*http.Response, error) {
	transport := f.asClient
	if r.Header.Get("X-Remote-User") != "" {
		transport = f.asFrontProxy
	}
	response, err := transport.RoundTrip(r)
	if err != nil || response.StatusCode == http.StatusSwitchingProtocols {
		return response, err // An upgraded connection (exec, port-forward) is passed on as it is.
	}
	response.Body = f.streams.wrap(r, response.Body, rule)
	if rule != nil {
		// Its length is not what the header says once it is cut short.
		response.ContentLength = -1
		response.Header.Del("Content-Length")
	}
	return response, nil
}

// status is the API's own object for an error, as the API server sends it.
func status(code int, message string, retryAfter int) []byte {
	object := map[string]any{
		"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Failure",
		"message": message, "reason": statuses[code], "code": code,
	}
	if retryAfter > 0 {
		object["details"] = map[string]any{"retryAfterSeconds": retryAfter}
	}
	text, err := json.Marshal(object)
	if err != nil {
		panic(err) // Nothing in it can fail to be written.
	}
	return text
}

func answer(r *http.Request, rule *Rule) *http.Response {
	if r.Body != nil {
		r.Body.Close()
	}
	text := status(rule.Status, fmt.Sprintf("the fault proxy's rule %d", rule.ID), rule.RetryAfter)
	response := &http.Response{
		StatusCode: rule.Status, Proto: "HTTP/2.0", ProtoMajor: 2, Request: r,
		Header:        http.Header{"Content-Type": {"application/json"}},
		Body:          io.NopCloser(bytes.NewReader(text)),
		ContentLength: int64(len(text)),
	}
	if rule.RetryAfter > 0 {
		response.Header.Set("Retry-After", strconv.Itoa(rule.RetryAfter))
	}
	return response
}
