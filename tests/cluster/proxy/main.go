// The fault proxy stands between a client and a Kubernetes API server, and does to the client what
// networks and servers do on bad days: it waits, answers errors, breaks connections when the effect
// has taken place, cuts and stalls watches. What it does is told to it, as rules, over HTTP on its
// control address; without rules it only passes on.
//
// Who the client is stays so: of a client certificate (checked against the cluster's authority) the
// name and the groups are handed on as a front proxy does, with a certificate of the front proxies'
// authority as proof; a bearer token is passed on as it is.
//
// Both sides speak HTTP/2, as client-go does, or HTTP/1.1 where the client asks for it.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
)

type options struct {
	listen, control, target string
	authority, cert, key    string
	frontCert, frontKey     string
}

func main() {
	log.SetFlags(log.LstdFlags | log.Lmicroseconds)
	var o options
	flag.StringVar(&o.listen, "listen", "127.0.0.1:0", "where clients come, HTTPS")
	flag.StringVar(&o.control, "control", "127.0.0.1:0", "where rules are told, plain HTTP")
	flag.StringVar(&o.target, "target", "", "the API server, https://HOST:PORT")
	flag.StringVar(&o.authority, "ca", "", "the certificate that signed the server's and clients'")
	flag.StringVar(&o.cert, "cert", "", "the proxy's certificate towards clients")
	flag.StringVar(&o.key, "key", "", "its key")
	flag.StringVar(&o.frontCert, "front-cert", "", "its certificate towards the API server")
	flag.StringVar(&o.frontKey, "front-key", "", "its key")
	plain := flag.Bool("forward", false, "only pass on TCP connections: -forward LISTEN TARGET")
	flag.Parse()
	if *plain {
		log.Fatal(forward(flag.Arg(0), flag.Arg(1)))
	}
	if err := run(o); err != nil {
		log.Fatal(err)
	}
}

func run(o options) error {
	target, err := url.Parse(o.target)
	if err != nil || target.Scheme != "https" || target.Host == "" {
		return fmt.Errorf("-target %q is not https://HOST:PORT", o.target)
	}
	pem, err := os.ReadFile(o.authority)
	if err != nil {
		return fmt.Errorf("-ca: %w", err)
	}
	authority := x509.NewCertPool()
	if !authority.AppendCertsFromPEM(pem) {
		return fmt.Errorf("-ca: no certificate in %s", o.authority)
	}
	own, err := tls.LoadX509KeyPair(o.cert, o.key)
	if err != nil {
		return fmt.Errorf("-cert and -key: %w", err)
	}
	front, err := tls.LoadX509KeyPair(o.frontCert, o.frontKey)
	if err != nil {
		return fmt.Errorf("-front-cert and -front-key: %w", err)
	}
	rules := &ruleBook{}
	streams := newStreams()

	control, err := net.Listen("tcp", o.control)
	if err != nil {
		return fmt.Errorf("-control: %w", err)
	}
	failed := make(chan error, 2)
	go func() { failed <- http.Serve(control, controlHandler(rules, streams)) }()

	listener, err := net.Listen("tcp", o.listen)
	if err != nil {
		return fmt.Errorf("-listen: %w", err)
	}
	server := newServer(target, authority, own, &faults{
		rules:        rules,
		streams:      streams,
		asClient:     newTransport(authority, nil),
		asFrontProxy: newTransport(authority, []tls.Certificate{front}),
	})
	log.Printf("clients at https://%s, rules at http://%s", listener.Addr(), control.Addr())
	go func() { failed <- server.ServeTLS(listener, "", "") }()
	return <-failed
}

type connectionKey struct{}

// newServer puts `faults` between clients and target.
func newServer(
	target *url.URL, authority *x509.CertPool, own tls.Certificate, faults *faults,
) *http.Server {
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target); handOnIdentity(r); askForLines(r) },
		Transport:     faults,
		FlushInterval: -1, // An event of a watch goes on at once.
		ErrorHandler:  breakConnection,
	}
	return &http.Server{
		Handler: proxy,
		TLSConfig: &tls.Config{
			Certificates: []tls.Certificate{own},
			ClientCAs:    authority,
			ClientAuth:   tls.VerifyClientCertIfGiven,
		},
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connectionKey{}, c)
		},
	}
}

func newTransport(authority *x509.CertPool, own []tls.Certificate) *http.Transport {
	return &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: authority, Certificates: own},
		ForceAttemptHTTP2:   true,
		DisableCompression:  true, // What the client asks for is what it gets.
		MaxIdleConnsPerHost: 100,
	}
}

// handOnIdentity: the API server believes these headers from the proxy's certificate alone, so none
// of the client's own may get through.
func handOnIdentity(r *httputil.ProxyRequest) {
	r.Out.Header.Del("X-Remote-User")
	r.Out.Header.Del("X-Remote-Group")
	if r.In.TLS == nil || len(r.In.TLS.PeerCertificates) == 0 {
		return
	}
	subject := r.In.TLS.PeerCertificates[0].Subject
	r.Out.Header.Set("X-Remote-User", subject.CommonName)
	for _, group := range subject.Organization {
		r.Out.Header.Add("X-Remote-Group", group)
	}
}

// askForLines: a watch is steered by its lines, which protobuf does not have.
func askForLines(r *httputil.ProxyRequest) {
	const json = "application/json"
	accept := r.In.Header.Get("Accept")
	if strings.Contains(accept, "protobuf") && strings.Contains(accept, json) &&
		r.In.URL.Query().Has("watch") {
		r.Out.Header.Set("Accept", json)
	}
}

// breakConnection is how every failure reaches the client: the connection ends with a reset, and
// with it whatever else was under way on it. An invented status would be an answer, and the rules
// give those.
func breakConnection(_ http.ResponseWriter, r *http.Request, err error) {
	log.Printf("%s %s: connection broken: %v", r.Method, r.URL.RequestURI(), err)
	if c, ok := r.Context().Value(connectionKey{}).(net.Conn); ok {
		if secured, ok := c.(*tls.Conn); ok {
			c = secured.NetConn()
		}
		if plain, ok := c.(*net.TCPConn); ok {
			plain.SetLinger(0)
		}
		c.Close()
	}
	panic(http.ErrAbortHandler)
}
