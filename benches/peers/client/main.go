// A load generator over quic-go: it fetches one path of a server, again and again, and discards the bodies.
package main

import (
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"sync"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

func main() {
	url := flag.String("url", "", "what to fetch")
	connections := flag.Int("connections", 1, "connections in all")
	beside := flag.Int("beside", 1, "connections at a time")
	requests := flag.Int("requests", 1, "requests on each connection")
	streams := flag.Int("streams", 1, "requests at a time on a connection")
	expected := flag.Int64("bytes", 0, "bytes of each body")
	hold := flag.Duration("hold", 0, "how long each connection stays idle at the end, so that its memory can be read")
	flag.Parse()
	start := time.Now()
	each(*connections, *beside, func() { connection(*url, *requests, *streams, *expected, *hold) })
	fmt.Printf("%.3f\n", time.Since(start).Seconds())
}

// Calls work so often, and as often at a time.
func each(calls, atATime int, work func()) {
	var all sync.WaitGroup
	places := make(chan struct{}, atATime)
	for range calls {
		places <- struct{}{}
		all.Add(1)
		go func() {
			defer func() { <-places; all.Done() }()
			work()
		}()
	}
	all.Wait()
}

func connection(url string, requests, streams int, expected int64, hold time.Duration) {
	transport := &http3.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		QUICConfig: &quic.Config{
			InitialStreamReceiveWindow:     6 << 20,
			InitialConnectionReceiveWindow: 15 << 20,
		},
	}
	defer transport.Close()
	client := &http.Client{Transport: transport}
	fetch(client, url, expected)
	each(requests-1, streams, func() { fetch(client, url, expected) })
	if hold > 0 {
		fmt.Println("idle")
		time.Sleep(hold)
	}
}

func fetch(client *http.Client, url string, expected int64) {
	response, err := client.Get(url)
	if err != nil {
		log.Fatal(err)
	}
	bytes, err := io.Copy(io.Discard, response.Body)
	response.Body.Close()
	if err != nil || response.StatusCode != 200 || bytes != expected {
		log.Fatalf("%s: status %d, %d of %d bytes, %v", url, response.StatusCode, bytes, expected, err)
	}
}
