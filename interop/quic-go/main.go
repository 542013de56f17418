// An HTTP/3 client and server on quic-go, as small as interoperation needs them.
//
//	quic-go serve --listen ADDR --root DIR --cert FILE --key FILE [--streams N]
//	quic-go fetch --connect ADDR --ca FILE --out DIR [--then URL]... [--feature NAME] URL...
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

func main() {
	if len(os.Args) < 2 {
		fail(errors.New("usage: quic-go serve|fetch ..."))
	}
	var err error
	switch os.Args[1] {
	case "serve":
		err = serve(os.Args[2:])
	case "fetch":
		err = fetch(os.Args[2:])
	default:
		err = fmt.Errorf("no such subcommand: %s", os.Args[1])
	}
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "quic-go:", err)
	os.Exit(1)
}

// Serves the files of one directory until SIGTERM, then says how many connections it had.
func serve(arguments []string) error {
	flags := flag.NewFlagSet("serve", flag.ExitOnError)
	listen := flags.String("listen", "127.0.0.1:4433", "address to listen on")
	root := flags.String("root", ".", "directory to serve")
	certFile := flags.String("cert", "", "certificate chain, PEM")
	keyFile := flags.String("key", "", "private key, PEM")
	streams := flags.Int64("streams", 100, "requests in progress that a connection may have")
	_ = flags.Parse(arguments)

	certificate, err := tls.LoadX509KeyPair(*certFile, *keyFile)
	if err != nil {
		return err
	}
	socket, err := net.ListenPacket("udp", *listen)
	if err != nil {
		return err
	}
	var connections atomic.Int64
	server := &http3.Server{
		TLSConfig:  http3.ConfigureTLSConfig(&tls.Config{Certificates: []tls.Certificate{certificate}}),
		QUICConfig: &quic.Config{Allow0RTT: true, MaxIncomingStreams: *streams, MaxIdleTimeout: time.Minute},
		Handler:    http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { sendFile(w, r, *root) }),
		ConnContext: func(ctx context.Context, _ *quic.Conn) context.Context {
			connections.Add(1)
			return ctx
		},
	}
	go func() {
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
		<-signals
		_ = server.Close()
	}()
	fmt.Println("listening on", socket.LocalAddr())
	err = server.Serve(socket)
	fmt.Println("connections", connections.Load())
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// http.ServeFile would answer /index.html with a redirect, so the file is opened here.
func sendFile(w http.ResponseWriter, r *http.Request, root string) {
	file, err := os.Open(filepath.Join(root, path.Base(r.URL.Path)))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	defer file.Close()
	http.ServeContent(w, r, r.URL.Path, time.Time{}, file)
}

// URLs that may be given more than once.
type urlList []string

func (list *urlList) String() string { return fmt.Sprint(*list) }

func (list *urlList) Set(url string) error {
	*list = append(*list, url)
	return nil
}

// Fetches all URLs at once over one connection, asked for in their order, and those of --then as soon as one body is
// complete. Each body goes to a file named by its URL's last segment.
//
// With --feature resumption or early-data, the first URL has a connection of its own, and the others one that resumes
// its session. --feature key-update needs nothing: quic-go updates the keys by itself after 100 packets.
func fetch(arguments []string) error {
	flags := flag.NewFlagSet("fetch", flag.ExitOnError)
	connect := flags.String("connect", "", "address of the server")
	caFile := flags.String("ca", "", "certificate authority, PEM")
	out := flags.String("out", ".", "directory for the bodies")
	feature := flags.String("feature", "", "resumption, early-data or key-update")
	var late urlList
	flags.Var(&late, "then", "URL to ask for after the first body")
	_ = flags.Parse(arguments)

	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	tlsConfig, err := trusting(*caFile)
	if err != nil {
		return err
	}
	urls, dial := flags.Args(), quic.DialAddr
	if *feature == "resumption" || *feature == "early-data" {
		if err := visit(ctx, dial, *connect, tlsConfig, *out, urls[:1], nil); err != nil {
			return err
		}
		urls = urls[1:]
	}
	if *feature == "early-data" {
		dial = quic.DialAddrEarly
	}
	return visit(ctx, dial, *connect, tlsConfig, *out, urls, late)
}

// How long a fetch and a handshake may take: on a bad link a handshake takes more than quic-go's 5 s.
const patience = time.Minute

type dialer func(context.Context, string, *tls.Config, *quic.Config) (*quic.Conn, error)

// One connection.
func visit(ctx context.Context, dial dialer, address string, tlsConfig *tls.Config, out string, urls, late []string) error {
	connection, err := dial(ctx, address, tlsConfig, &quic.Config{HandshakeIdleTimeout: patience})
	if err != nil {
		return err
	}
	transport := &http3.Transport{DisableCompression: true}
	client := transport.NewClientConn(connection)

	results := make(chan error)
	ask := func(urls []string) {
		for _, url := range urls {
			read, err := fetchOne(ctx, client, url, out)
			go func() {
				if err == nil {
					err = read()
				}
				results <- err
			}()
		}
	}
	ask(urls)
	failures := <-results
	ask(late)
	for range len(urls) + len(late) - 1 {
		failures = errors.Join(failures, <-results)
	}
	_ = connection.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "")
	return failures
}

// Trusts one authority, and keeps sessions for connections to come.
func trusting(caFile string) (*tls.Config, error) {
	pem, err := os.ReadFile(caFile)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s holds no certificate", caFile)
	}
	return &tls.Config{
		RootCAs:            roots,
		ServerName:         "localhost",
		NextProtos:         []string{http3.NextProtoH3},
		ClientSessionCache: tls.NewLRUClientSessionCache(1),
	}, nil
}

// Sends the request now; what is returned reads the response. RoundTrip would send requests in any order. A URL's
// fragment, which is never sent as such, is the request's priority header.
func fetchOne(ctx context.Context, client *http3.ClientConn, url, out string) (func() error, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	if priority := request.URL.Fragment; priority != "" {
		request.Header.Set("Priority", priority)
	}
	stream, err := client.OpenRequestStream(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	if err := stream.SendRequestHeader(request); err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	if err := stream.Close(); err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	return func() error { return save(stream, url, filepath.Join(out, path.Base(request.URL.Path))) }, nil
}

func save(stream *http3.RequestStream, url, target string) error {
	response, err := stream.ReadResponse()
	if err != nil {
		return fmt.Errorf("%s: %w", url, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: status %d", url, response.StatusCode)
	}
	file, err := os.Create(target)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := io.Copy(file, response.Body); err != nil {
		return fmt.Errorf("%s: %w", url, err)
	}
	return nil
}
