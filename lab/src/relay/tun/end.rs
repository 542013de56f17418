//! One end of a link: a network namespace with a TUN device.

use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, getegid, geteuid, gettid};
use std::fs::{self, File};
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;
use tun_rs::{DeviceBuilder, SyncDevice};

/// The address of a link's client end.
pub const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
/// The address of its server end.
pub const SERVER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);

/// The device's name in either namespace.
const DEVICE: &str = "utmost";
/// The namespace of the calling thread; `/proc/self` would be the process's.
const OWN_NAMESPACE: &str = "/proc/thread-self/ns/net";
/// The most checks for remaining processes, and the pause before each check.
const LOOKS: u32 = 100;
const PAUSE: Duration = Duration::from_millis(20);
/// After this many checks, processes are killed.
const PATIENCE: u32 = 50;

/// One end of a link. Dropping it ends all processes that still run there.
pub struct End {
    namespace: File,
}

/// Why there is no link between namespaces.
#[derive(Debug, thiserror::Error)]
pub enum TunError {
    /// No namespaces of users.
    #[error(
        "a user namespace for the link: {0}; run this as root, or allow all users such namespaces (sysctl \
         user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns)"
    )]
    User(io::Error),
    /// No network namespace.
    #[error(
        "a network namespace for the link: {0}; it needs CAP_SYS_ADMIN: run this as root, in a container with \
         --cap-add=SYS_ADMIN --cap-add=NET_ADMIN"
    )]
    Namespace(io::Error),
    /// No device.
    #[error("/dev/net/tun: {0}; {remedy}", remedy = remedy(.0))]
    Device(io::Error),
    /// The device has no address.
    #[error(
        "ip, which gives the link its addresses: {0}; install the package iproute2 if it is missing"
    )]
    Ip(io::Error),
}

fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "load the module tun; a container needs --device=/dev/net/tun",
        io::ErrorKind::PermissionDenied => {
            "allow its use (chmod 666 /dev/net/tun), or run this as root with CAP_NET_ADMIN"
        }
        _ => "the link needs TUN devices",
    }
}

/// Raises the calling thread's priority, if the system allows it. Otherwise packets are late on a busy machine.
pub(super) fn go_first() {
    let thread = gettid().to_string();
    let chrt =
        Command::new("chrt").args(["--fifo", "--pid", "1", &thread]).stderr(Stdio::null()).status();
    // Without the permission or the program, the link is accurate only on an idle machine.
    chrt.ok();
}

/// Lets a user other than root create network namespaces: the process becomes root of its own user namespace, in which all
/// files still belong to the same user. Does nothing for root. The process must not have other threads.
pub fn enter_user_namespace() -> Result<(), TunError> {
    let (user, group) = (geteuid(), getegid());
    if user.is_root() {
        return Ok(());
    }
    unshare(CloneFlags::CLONE_NEWUSER).map_err(|it| TunError::User(it.into()))?;
    let written = fs::write("/proc/self/setgroups", "deny")
        .and_then(|()| fs::write("/proc/self/uid_map", format!("0 {user} 1")))
        .and_then(|()| fs::write("/proc/self/gid_map", format!("0 {group} 1")));
    written.map_err(TunError::User)
}

impl End {
    /// Creates an end at `address`. All packets for other addresses go through its device, towards `other`.
    pub(super) fn make(address: Ipv4Addr, other: Ipv4Addr) -> Result<(Self, SyncDevice), TunError> {
        in_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET).map_err(|it| TunError::Namespace(it.into()))?;
            let namespace = File::open(OWN_NAMESPACE).map_err(TunError::Namespace)?;
            let device = device().map_err(TunError::Device)?;
            configure(address, other).map_err(TunError::Ip)?;
            Ok((Self { namespace }, device))
        })
    }

    /// Runs `work` in this end's namespace: the sockets and processes that it creates stay there.
    pub fn within<R: Send>(&self, work: impl FnOnce() -> io::Result<R> + Send) -> io::Result<R> {
        in_thread(|| {
            setns(&self.namespace, CloneFlags::CLONE_NEWNET)?;
            work()
        })
    }

    /// Whether a program waits for clients here: on a TCP port, or with an unconnected UDP socket.
    pub fn has_server(&self) -> io::Result<bool> {
        const WAITS: [(&str, &str); 4] =
            [("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07")];
        self.within(|| {
            for (table, state) in WAITS {
                let rows = fs::read_to_string(format!("/proc/thread-self/net/{table}"))?;
                if rows.lines().any(|row| row.split_whitespace().nth(3) == Some(state)) {
                    return Ok(true);
                }
            }
            Ok(false)
        })
    }

    /// The processes in this namespace.
    fn processes(&self) -> io::Result<Vec<Pid>> {
        let namespace = self.namespace.metadata()?.ino();
        let numbers = fs::read_dir("/proc")?.flatten();
        let numbers = numbers.filter_map(|it| it.file_name().to_str()?.parse().ok());
        // A process that has ended or belongs to another user is not ours.
        let is_here = |id: &i32| {
            fs::metadata(format!("/proc/{id}/ns/net")).is_ok_and(|it| it.ino() == namespace)
        };
        Ok(numbers.filter(is_here).map(Pid::from_raw).collect())
    }

    /// Ends all processes here: sends a signal, waits a second, and kills them.
    fn end_processes(&self) -> io::Result<()> {
        for look in 0..LOOKS {
            let processes = self.processes()?;
            if processes.is_empty() {
                break;
            }
            let signal = match look {
                0 => Some(Signal::SIGTERM),
                PATIENCE.. => Some(Signal::SIGKILL),
                _ => None,
            };
            for process in processes {
                // A process that has ended since needs no signal.
                kill(process, signal).ok();
            }
            thread::sleep(PAUSE);
        }
        Ok(())
    }
}

impl Drop for End {
    fn drop(&mut self) {
        // Without /proc, nothing can be done.
        self.end_processes().ok();
    }
}

/// Runs `work` on a new thread, because a thread cannot leave a namespace that it has created.
fn in_thread<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    thread::scope(|scope| match scope.spawn(work).join() {
        Ok(done) => done,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}

fn device() -> io::Result<SyncDevice> {
    let device = DeviceBuilder::new().name(DEVICE).enable(false).build_sync()?;
    device.set_nonblocking(true)?;
    Ok(device)
}

/// Configures the device, which takes packets of 1500 bytes. Without an IPv6 address, the system sends nothing of its own, so
/// the first packet on the link is a program's. Its queue is longer than a burst, because only the link may lose packets.
fn configure(address: Ipv4Addr, other: Ipv4Addr) -> io::Result<()> {
    let script = format!(
        "link set dev lo up\n\
         link set dev {DEVICE} addrgenmode none mtu 1500 txqueuelen 10000\n\
         link set dev {DEVICE} up\n\
         address add {address} peer {other} dev {DEVICE}\n\
         route add default dev {DEVICE}\n"
    );
    let mut ip = Command::new("ip").args(["-batch", "-"]).stdin(Stdio::piped()).spawn()?;
    if let Some(mut stdin) = ip.stdin.take() {
        stdin.write_all(script.as_bytes())?;
    }
    let status = ip.wait()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(status.to_string())) }
}
