package main

import (
	"sync"
	"time"

	"github.com/quic-go/quic-go/http3"
)

const (
	others = 20
	// How long the others are under way when the urgent request goes.
	headStart = 20 * time.Millisecond
)

// How long the body takes alone, urgent beside others, and beside others of the same urgency, in ms. All on one
// connection, whose congestion window one round without a figure opens.
func (it body) urgency(times int) map[string]any {
	connection := dial()
	defer connection.Close()
	it.beside(connection, "u=3", "u=3")
	figures := map[string][]float64{}
	add := func(name string, took time.Duration) {
		figures[name] = append(figures[name], float64(took.Microseconds())/1000)
	}
	for range times {
		add("alone", it.timed(connection, "u=0"))
		add("loaded", it.beside(connection, "u=7", "u=0"))
		add("equal", it.beside(connection, "u=3", "u=3"))
	}
	return map[string]any{"alone": figures["alone"], "loaded": figures["loaded"], "equal": figures["equal"]}
}

func (it body) timed(connection *http3.Transport, priority string) time.Duration {
	start := time.Now()
	it.fetch(connection, priority)
	return time.Since(start)
}

// How long the body takes if it is requested while the others are under way.
func (it body) beside(connection *http3.Transport, theirs, its string) time.Duration {
	var all sync.WaitGroup
	for range others {
		all.Go(func() { it.fetch(connection, theirs) })
	}
	time.Sleep(headStart)
	took := it.timed(connection, its)
	all.Wait()
	return took
}
