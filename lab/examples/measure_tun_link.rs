//! How far the link between network namespaces is from the model: delays, rate, drops, and what one TCP flow reaches.
//!
//! ```sh
//! cargo build --release -p utmost-lab --example measure_tun_link
//! chrt -f 1 target/release/examples/measure_tun_link
//! ```
//!
//! With `chrt`, the receiver does not wait for other programs of the machine; the relay goes before them in any case.
//! It needs root, or a system that allows user namespaces and the use of /dev/net/tun. The kernel's modules are in
//! `net.ipv4.tcp_available_congestion_control`.

use lab::network::Network;
use lab::relay::tun::{CLIENT, Ends, SERVER, TunRelay, enter_user_namespace};
use nix::sys::socket::{setsockopt, sockopt::TcpCongestion};
use simulator::link::{Link, Way};
use std::error::Error;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

type Outcome<T> = Result<T, Box<dyn Error>>;

const DATAGRAMS: u32 = 10_000;
/// With the headers of IP and UDP, 1228 bytes cross the link.
const PAYLOAD_BYTES: usize = 1200;
const PACKET_BYTES: u64 = 1228;
const RATE: f64 = 20e6;
/// TCP's share is measured between these times of its flow.
const FROM: Duration = Duration::from_secs(3);
const UNTIL: Duration = Duration::from_secs(13);

fn main() -> Outcome<()> {
    enter_user_namespace()?;
    println!("| measured | value |");
    println!("|---|---:|");
    let paced = datagrams("loss = 0.01", 0.8)?;
    let mut errors_ms: Vec<f64> = paced.errors_ms;
    errors_ms.sort_by(f64::total_cmp);
    for (name, percent) in [("median", 50), ("p99", 99), ("most", 100)] {
        let place = (errors_ms.len() - 1) * percent / 100;
        println!("| delay beyond the model's, {name}, ms | {:.3} |", errors_ms[place]);
    }
    println!("| datagrams lost otherwise than in the model | {} |", paced.lost_otherwise);
    println!("| datagrams out of order | {} |", paced.out_of_order);
    let crowded = datagrams("", 1.2)?;
    println!("| rate beside the file's, % | {:+.3} |", (crowded.rate / RATE - 1.0) * 100.0);
    for control in ["bbr", "cubic", "reno"] {
        println!("| one TCP flow under {control}, % of the rate | {:.1} |", tcp(control)? * 100.0);
    }
    Ok(())
}

/// What became of datagrams.
struct Sent {
    errors_ms: Vec<f64>,
    lost_otherwise: usize,
    out_of_order: usize,
    rate: f64,
}

/// Sends datagrams from the server's end at a share of the link's rate.
fn datagrams(rest: &str, share: f64) -> Outcome<Sent> {
    let network =
        described(&format!("rate = {RATE}\ndelay_ms = 25\nqueue = \"unlimited\"\n{rest}\n"))?;
    let mut model: Link = Link::new(&network.down, Way::Down, 0).logged();
    let (sent, came) = linked(network, |ends| {
        let client = ends.client.within(|| UdpSocket::bind(("0.0.0.0", 4433)))?;
        client.set_read_timeout(Some(Duration::from_secs(2)))?;
        let server = ends.server.within(|| UdpSocket::bind((SERVER, 4433)))?;
        let start = now();
        let receiving = thread::spawn(move || {
            let mut buffer = [0; 2000];
            let mut came = Vec::new();
            while client.recv(&mut buffer).is_ok() {
                let number = u32::from_be_bytes([buffer[0], buffer[1], buffer[2], buffer[3]]);
                came.push((number, start.elapsed()));
            }
            came
        });
        let pause = PACKET_BYTES as f64 * 8.0 / (RATE * share);
        let mut payload = [0; PAYLOAD_BYTES];
        let mut sent = Vec::new();
        for number in 0..DATAGRAMS {
            let due = Duration::from_secs_f64(f64::from(number) * pause);
            thread::sleep(due.saturating_sub(start.elapsed()));
            payload[..4].copy_from_slice(&number.to_be_bytes());
            sent.push(start.elapsed());
            server.send_to(&payload, (CLIENT, 4433))?;
        }
        Ok((sent, receiving.join().map_err(|_| "the receiver panicked")?))
    })?;
    let mut arrivals = Vec::new();
    for at in &sent {
        let at_ns = u64::try_from(at.as_nanos())?;
        model.offer(at_ns, vec![0; usize::try_from(PACKET_BYTES)?]);
        arrivals.push(model.next_ns());
        while model.arrival(u64::MAX).is_some() {}
    }
    let lost: Vec<u32> = (0..DATAGRAMS).filter(|it| arrivals[*it as usize].is_none()).collect();
    let numbers: Vec<u32> = came.iter().map(|it| it.0).collect();
    let lost_here: Vec<u32> =
        (0..DATAGRAMS).filter(|it| numbers.binary_search(it).is_err()).collect();
    let errors_ms = came.iter().filter_map(|(number, at)| {
        let expected_ns = arrivals[*number as usize]?;
        Some(at.as_secs_f64() * 1e3 - expected_ns as f64 / 1e6)
    });
    let took = came[came.len() - 1].1.saturating_sub(came[0].1);
    Ok(Sent {
        errors_ms: errors_ms.collect(),
        lost_otherwise: lost.iter().filter(|it| !lost_here.contains(it)).count()
            + lost_here.iter().filter(|it| !lost.contains(it)).count(),
        out_of_order: numbers.windows(2).filter(|it| it[0] > it[1]).count(),
        rate: (came.len() - 1) as f64 * PACKET_BYTES as f64 * 8.0 / took.as_secs_f64(),
    })
}

/// The share of the link's rate that one flow has, headers included.
fn tcp(control: &'static str) -> Outcome<f64> {
    let network = described("rate = 10e6\ndelay_ms = 25\nqueue = { bytes = 62500 }\n")?;
    linked(network, |ends| {
        let listener = ends.server.within(|| TcpListener::bind((SERVER, 80)))?;
        let serving = thread::spawn(move || {
            let (mut stream, _) = listener.accept()?;
            setsockopt(&stream, TcpCongestion, &OsString::from(control))?;
            while stream.write_all(&[0; 16_384]).is_ok() {}
            Ok::<(), std::io::Error>(())
        });
        let mut stream = ends.client.within(|| TcpStream::connect((SERVER, 80)))?;
        let start = now();
        let mut buffer = vec![0; 65_536];
        let mut bytes = 0;
        let mut began = Duration::ZERO;
        let mut last = Duration::ZERO;
        while last < UNTIL {
            let read = stream.read(&mut buffer)?;
            last = start.elapsed();
            if last < FROM {
                began = last;
            } else {
                bytes += read;
            }
        }
        drop(stream);
        serving.join().map_err(|_| "the server panicked")??;
        // 1448 bytes of each packet of 1500 are the flow's.
        Ok(bytes as f64 * 8.0 * 1500.0 / 1448.0 / last.saturating_sub(began).as_secs_f64() / 10e6)
    })
}

fn linked<R>(network: Network, work: impl FnOnce(&Ends) -> Outcome<R>) -> Outcome<R> {
    let (mut relay, ends) = TunRelay::between(network, 0, None)?;
    let stop = relay.stopper();
    let relaying = thread::spawn(move || relay.run());
    let found = work(&ends);
    stop.stop();
    relaying.join().map_err(|_| "the relay panicked")??;
    found
}

fn described(text: &str) -> Outcome<Network> {
    let file = tempfile::NamedTempFile::with_suffix(".toml")?;
    std::fs::write(file.path(), text)?;
    Ok(Network::find(file.path().to_str().ok_or("a name in UTF-8")?)?)
}

#[expect(clippy::disallowed_methods, reason = "this is where the example reads the clock")]
fn now() -> Instant {
    Instant::now()
}
