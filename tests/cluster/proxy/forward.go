package main

import (
	"io"
	"net"
)

// forward passes each connection to `listen` on to `target`, untouched. A cluster's real nodes
// reach the API at the address of its service through this.
func forward(listen, target string) error {
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	for {
		client, err := listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer client.Close()
			server, err := net.Dial("tcp", target)
			if err != nil {
				return // The client sees its connection closed, as it would without us.
			}
			defer server.Close()
			ended := make(chan struct{}, 2)
			for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
				go func() {
					io.Copy(way[1], way[0])
					way[1].(*net.TCPConn).CloseWrite()
					ended <- struct{}{}
				}()
			}
			<-ended
			<-ended
		}()
	}
}
