// A load generator over quic-go: it fetches one path of a server, again and again, and discards the bodies. The last
// line that it prints is a JSON object with what it measured.
package main

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

func main() {
	log.SetFlags(0)
	url := flag.String("url", "", "what to fetch")
	expected := flag.Int64("bytes", 0, "bytes of each body")
	connections := flag.Int("connections", 1, "connections in all")
	beside := flag.Int("beside", 1, "connections at a time")
	requests := flag.Int("requests", 1, "requests on each connection; with -held, of all connections together")
	streams := flag.Int("streams", 1, "requests at a time on a connection; with -held, of all connections together")
	held := flag.Bool("held", false, "open all connections, print \"open\", wait for a line on stdin, then send the requests")
	urgent := flag.Int("urgent", 0, "N times: fetch the body alone, then urgently beside 20 others, then beside 20 equals")
	flag.Parse()
	what := body{*url, *expected}
	switch {
	case *urgent > 0:
		say(what.urgency(*urgent))
	case *held:
		say(what.overHeld(*connections, *beside, *requests, *streams))
	default:
		say(seconds(func() {
			each(*connections, *beside, func(int) { what.overOne(*requests, *streams) })
		}))
	}
}

func say(figures map[string]any) {
	line, err := json.Marshal(figures)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(line))
}

func seconds(work func()) map[string]any {
	start := time.Now()
	work()
	return map[string]any{"seconds": time.Since(start).Seconds()}
}

// Calls work N times, a few at a time.
func each(calls, atATime int, work func(number int)) {
	var all sync.WaitGroup
	places := make(chan struct{}, atATime)
	for number := range calls {
		places <- struct{}{}
		all.Add(1)
		go func() {
			defer func() { <-places; all.Done() }()
			work(number)
		}()
	}
	all.Wait()
}

// What is fetched.
type body struct {
	url   string
	bytes int64
}

func dial() *http3.Transport {
	return &http3.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		QUICConfig: &quic.Config{
			InitialStreamReceiveWindow:     6 << 20,
			InitialConnectionReceiveWindow: 15 << 20,
			// Opening 10,000 connections takes half a minute or more.
			MaxIdleTimeout: 2 * time.Minute,
		},
	}
}

// A connection that ends when its requests are done.
func (it body) overOne(requests, streams int) {
	connection := dial()
	defer connection.Close()
	it.fetch(connection, "")
	each(requests-1, streams, func(int) { it.fetch(connection, "") })
}

// Connections that stay open until the end, and take turns with the requests.
func (it body) overHeld(connections, beside, requests, streams int) map[string]any {
	all := make([]*http3.Transport, connections)
	each(connections, beside, func(number int) {
		all[number] = dial()
		it.fetch(all[number], "")
	})
	fmt.Println("open")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	figures := seconds(func() {
		each(requests, streams, func(number int) { it.fetch(all[number%connections], "") })
	})
	for _, connection := range all {
		connection.Close()
	}
	return figures
}

// A response is complete, or the program ends.
func (it body) fetch(connection *http3.Transport, priority string) {
	request, err := http.NewRequest(http.MethodGet, it.url, nil)
	if err != nil {
		log.Fatal(err)
	}
	if priority != "" {
		request.Header.Set("Priority", priority)
	}
	response, err := connection.RoundTrip(request)
	if err != nil {
		log.Fatal(err)
	}
	bytes, err := io.Copy(io.Discard, response.Body)
	response.Body.Close()
	if err != nil || response.StatusCode != 200 || bytes != it.bytes {
		log.Fatalf("%s: status %d, %d of %d bytes, %v", it.url, response.StatusCode, bytes, it.bytes, err)
	}
}
