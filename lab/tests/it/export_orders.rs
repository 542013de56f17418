//! What the servers do with the priorities of an export: the order of responses that wait for one another.
//!
//! The clients read through a small window of the connection, so that a server must choose what it sends next.

use crate::export_servers::{APACHE, CADDY, H2O, NGINX, Program, Sandbox};
use client::Verify;
use client::event_loop::probe;
use client::probe::{Late, Patience, Plan, Reading, Request};
use lab::export::{Advice, Line, NamedBy};
use lab::study::statistics::median;
use qlog_tools::reader::read;
use schedulers::{Kind, Priority, Resource};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::time::Duration;

const HOST: &str = "localhost";
const LATE: &str = "/late.bin";
const OTHER: &str = "/other.bin";
const BODY_BYTES: usize = 300_000;
/// Responses that are requested before the late one.
const OTHERS: usize = 4;
/// Loads whose median counts.
const LOADS: usize = 5;

/// The late response is the most urgent one.
fn urgent() -> Advice {
    let line = Line {
        host: HOST.to_owned(),
        is_elsewhere: false,
        path: LATE.to_owned(),
        url: LATE.to_owned(),
        resource: Resource { kind: Kind::Image, ..Resource::default() },
        script: None,
        named_by: NamedBy::Document,
        priority: Priority::new(0, false),
        later_ms: None,
    };
    Advice { lines: vec![line], ..Advice::default() }
}

/// An HTTP/2 connection that requests files at once (RFC 9113), and counts the bytes before the last one.
struct Http2(TcpStream);

impl Http2 {
    fn connect(port: u16) -> Self {
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let stream = TcpStream::connect(address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a limit");
        let mut connection = Self(stream);
        connection.0.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").expect("sent");
        // Windows of streams that hold all; the connection's stays at 64 KiB. No pushes.
        connection.send(4, 0, 0, &[0, 2, 0, 0, 0, 0, 0, 4, 0x3f, 0xff, 0xff, 0xff]);
        connection
    }

    fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let length = u32::try_from(payload.len()).expect("short").to_be_bytes();
        let head = [&length[1..], &[kind, flags], &stream.to_be_bytes()].concat();
        self.0.write_all(&[&head, payload].concat()).expect("sent");
    }

    fn ask(&mut self, stream: u32, path: &str) {
        let fields =
            [(":method", "GET"), (":scheme", "http"), (":authority", HOST), (":path", path)];
        let mut block = Vec::new();
        for (name, value) in fields {
            // A literal without indexing, its name and value without Huffman's code (RFC 7541, 6.2.2).
            block.push(0);
            for text in [name, value] {
                block.push(u8::try_from(text.len()).expect("short"));
                block.extend(text.as_bytes());
            }
        }
        self.send(1, 0x05, stream, &block);
    }

    /// The next frame: type, flags, stream, payload.
    fn frame(&mut self) -> (u8, u8, u32, Vec<u8>) {
        let mut head = [0; 9];
        self.0.read_exact(&mut head).expect("a frame");
        let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
        let mut payload = vec![0; length];
        self.0.read_exact(&mut payload).expect("a payload");
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        (head[3], head[4], stream, payload)
    }

    /// Bytes of the others that arrived before the end of the late response.
    fn others_first(&mut self) -> usize {
        let late = 2 * u32::try_from(OTHERS).expect("few") + 1;
        for place in 0..OTHERS {
            self.ask(2 * u32::try_from(place).expect("few") + 1, OTHER);
        }
        self.ask(late, LATE);
        let mut others = 0;
        loop {
            let (kind, flags, stream, payload) = self.frame();
            match kind {
                0 => {
                    others += if stream == late { 0 } else { payload.len() };
                    if stream == late && flags & 1 == 1 {
                        return others;
                    }
                    if !payload.is_empty() {
                        let read = u32::try_from(payload.len()).expect("short").to_be_bytes();
                        self.send(8, 0, 0, &read);
                    }
                }
                4 if flags & 1 == 0 => self.send(4, 1, 0, &[]),
                3 | 7 => panic!("frame {kind} of stream {stream}: {payload:?}"),
                _ => {}
            }
        }
    }
}

fn site(program: &Program, advice: &Advice) -> Option<Sandbox> {
    let sandbox = program.sandbox(HOST, advice)?;
    for path in [LATE, OTHER] {
        sandbox.add_file(path, BODY_BYTES);
    }
    Some(sandbox)
}

/// How much of the others arrived before the end of the late response over HTTP/2, in multiples of its size: without the export's
/// priorities, and with them. Medians, because the threads of a server start in random order.
fn others_first(program: &Program) -> Option<[f64; 2]> {
    let one = |advice: &Advice| {
        let sandbox = site(program, advice)?;
        let _serving = sandbox.serve(program.run);
        sandbox.wait(&format!("http://{HOST}:{}{LATE}", sandbox.port))?;
        let load = || Http2::connect(sandbox.port).others_first() as f64 / BODY_BYTES as f64;
        median(&[(); LOADS].map(|()| load()))
    };
    Some([one(&Advice::default())?, one(&urgent())?])
}

/// Over HTTP/2, these servers pass the field on and do not act on it, as their exports state. (Caddy's order over HTTP/2 is
/// random.)
#[track_caller]
fn does_not_act(program: &Program) {
    let Some([without, with]) = others_first(program) else { return };
    println!("{}: {without:.2} times its size without the field, {with:.2} with it", program.name);
    assert!((without - with).abs() < 0.5, "{without} {with}");
    assert!(with > 0.5 * OTHERS as f64, "{with}");
}

#[test]
fn nginx_passes_the_field_on_over_http2_and_does_not_act_on_it() {
    does_not_act(&NGINX);
}

#[test]
fn apache_passes_the_field_on_over_http2_and_does_not_act_on_it() {
    does_not_act(&APACHE);
}

#[test]
fn h2o_acts_on_the_field_over_http2_since_2_3() {
    if H2O.version().is_some_and(|it| it < (2, 3)) {
        return does_not_act(&H2O);
    }
    let Some([without, with]) = others_first(&H2O) else { return };
    assert!(with < 0.5 * without, "{without} {with}");
}

const CADDY_TLS: Program = Program {
    configuration: "{\nadmin off\nauto_https disable_redirects\nlocal_certs\nskip_install_trust\n}\n\
        https://%HOST%:%PORT% {\nbind 127.0.0.1\ntls internal\nroot * %FOLDER%/site\nimport utmost.conf\nfile_server\n}\n",
    ..CADDY
};

/// Whether Caddy's HTTP/3 sends by priority: quic-go does since 0.62.
fn caddy_has_priorities() -> Option<bool> {
    let output = Command::new(fixtures::program("caddy")?).arg("build-info").output().ok()?;
    let said = String::from_utf8_lossy(&output.stdout);
    let line = said.lines().find(|it| it.contains("quic-go/quic-go"))?;
    let version = line.split_whitespace().find_map(|it| it.strip_prefix("v0."))?;
    Some(version.split('.').next()?.parse::<u32>().ok()? >= 62)
}

/// Like [`others_first`], over HTTP/3: the late request arrives while the others are in progress, and the client requests it with
/// this urgency.
fn others_first_over_http3(program: &Program, advice: &Advice, urgency: u8) -> Option<f64> {
    let sandbox = site(program, advice)?;
    let _serving = sandbox.serve(program.run);
    sandbox.wait(&format!("https://{HOST}:{}{LATE}", sandbox.port))?;
    let request =
        |path: &str, urgency| Request { path: path.to_owned(), urgency, incremental: false };
    let plan = Plan {
        host: HOST.to_owned(),
        port: sandbox.port,
        first: vec![request(OTHER, Some(3)); OTHERS],
        late: Some(Late {
            request: request(LATE, Some(urgency)),
            after_bytes: BODY_BYTES as u64 / 2,
            update: None,
        }),
        reading: Reading { window_bytes: 40_000, bytes_per_ms: Some(3000.0) },
        keep_bodies: false,
    };
    let patience = Patience {
        verify: Verify::Nobody,
        connect_within: Duration::from_secs(10),
        within: Duration::from_secs(30),
    };
    let address = SocketAddr::from(([127, 0, 0, 1], sandbox.port));
    let fetched = probe(plan, address, &patience).expect("a connection");
    assert_eq!(fetched.problem, None, "{}", sandbox.output());
    let timeline = read("the client's log", &fetched.log[..]).expect("a log").timeline;
    let late = fetched.answers.last().expect("the late one").stream;
    let is_asked = |it: u64| fetched.answers.iter().any(|answer| answer.stream == it);
    let asked_us = timeline.transfers.iter().find(|it| it.stream == late)?.requested_us;
    let complete_us = timeline.deliveries().iter().find(|it| it.stream == late)?.complete_us?;
    let others = timeline.frames.iter().filter(|it| is_asked(it.stream) && it.stream != late);
    let between = others.filter(|it| (asked_us..=complete_us).contains(&it.time_us));
    Some(between.map(|it| it.bytes).sum::<u64>() as f64 / BODY_BYTES as f64)
}

#[test]
fn caddy_acts_over_http3_on_what_the_client_asks_for_alone() {
    let Some(has_priorities) = caddy_has_priorities() else { return };
    let measured = [(Advice::default(), 3), (urgent(), 3), (Advice::default(), 0)]
        .map(|(advice, urgency)| others_first_over_http3(&CADDY_TLS, &advice, urgency));
    let [Some(without), Some(with), Some(asked)] = measured else { return };
    println!("caddy: {without:.2} times its size, {with:.2} with the field, {asked:.2} asked for");
    assert!((without - with).abs() < 0.5, "{without} {with}");
    if has_priorities {
        assert!(asked < 0.5 * without, "{without} {asked}");
    }
}
