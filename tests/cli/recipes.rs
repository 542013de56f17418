//! The examples for `docs/serve-browsers.md`: another server has the TCP port, and ours the UDP port.

use crate::serving::{Serving, private_key};
use crate::{data, utmost};
use std::fs::write;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A configuration among the examples, with our port, host and paths.
fn recipe(file: &str, port: &str, root: &Path, key: &Path) -> String {
    let example = Path::new(crate::REPOSITORY).join("examples").join(file);
    let text = std::fs::read_to_string(example).expect("an example");
    let path = |it: &Path| it.to_str().expect("UTF-8").to_owned();
    text.replace("443", port)
        .replace("www.site.example", "localhost")
        .replace("/srv/site", &path(root))
        .replace("cert.pem", &path(&data("server.pem")))
        .replace(" key.pem", &format!(" {}", path(key)))
}

/// Another server, ended with the test.
struct Other(Child);

impl Other {
    fn start(command: &mut Command, port: &str) -> Self {
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut other = Self(process.expect("it runs"));
        let port = port.parse().expect("a port");
        while !fixtures::listens(port) {
            assert_eq!(other.0.try_wait().expect("a process"), None, "it has ended");
            std::thread::yield_now();
        }
        other
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let id = self.0.id().to_string();
        // Its workers end with it only if it may say so.
        Command::new("kill").args(["-TERM", &id]).status().ok();
        self.0.wait().ok();
    }
}

/// Asks `utmost doctor` about our server beside another one.
fn with(
    file: &str,
    other: impl Fn(&str, &Path) -> Command,
    change: impl Fn(String) -> String,
) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let (_key_folder, key) = private_key();
    let root = folder.path().join("site");
    std::fs::create_dir(&root).expect("created");
    write(root.join("index.html"), "<p>hi</p>").expect("written");
    let certificate = data("server.pem");
    let certificate = certificate.to_str().expect("UTF-8");
    let (root_text, key_text) = (root.to_str().expect("UTF-8"), key.to_str().expect("UTF-8"));
    let ours = Serving::start(&[
        "--root",
        root_text,
        "--no-tcp",
        "--cert",
        certificate,
        "--key",
        key_text,
    ]);
    let port = ours.address.rsplit_once(':').expect("a port").1;
    let text = change(recipe(file, port, &root, &key));
    let _other = Other::start(&mut other(&text, folder.path()), port);
    let host = format!("localhost:{port}");
    let output = utmost(&["doctor", &host, "--ca", certificate]).output().expect("it runs");
    (output.status.code(), String::from_utf8(output.stdout).expect("UTF-8"))
}

fn nginx(text: &str, folder: &Path) -> Command {
    let here = folder.display();
    let whole = format!(
        "daemon off; user root; pid {here}/pid; error_log {here}/error;\nevents {{}}\nhttp {{\naccess_log off;\n{text}\n}}"
    );
    write(folder.join("nginx.conf"), whole).expect("written");
    let mut command = Command::new("nginx");
    command.arg("-c").arg(folder.join("nginx.conf")).arg("-p").arg(folder);
    command
}

fn caddy(text: &str, folder: &Path) -> Command {
    // The test has no port 80, and no place for what Caddy keeps.
    let whole = text.replacen("{\n", "{\n    admin off\n    auto_https disable_redirects\n", 1);
    write(folder.join("Caddyfile"), whole).expect("written");
    let mut command = Command::new("caddy");
    command.args(["run", "--adapter", "caddyfile", "--config"]).arg(folder.join("Caddyfile"));
    command.env("HOME", folder).env("XDG_DATA_HOME", folder).env("XDG_CONFIG_HOME", folder);
    command
}

#[test]
fn nginx_has_tcp_and_brings_browsers_to_our_udp() {
    if fixtures::program("nginx").is_none() {
        return;
    }
    let (code, said) = with("nginx.conf", nginx, |text| text);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.ends_with("A browser will move to HTTP/3.\n"), "{said}");
    let unsaid = |text: String| {
        text.lines().filter(|it| !it.contains("Alt-Svc")).collect::<Vec<_>>().join("\n")
    };
    let (code, said) = with("nginx.conf", nginx, unsaid);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("BAD   Alt-Svc: the response (200) has no such field"), "{said}");
}

#[test]
fn caddy_has_tcp_and_brings_browsers_to_our_udp() {
    if fixtures::program("caddy").is_none() {
        return;
    }
    let (code, said) = with("Caddyfile", caddy, |text| text);
    assert_eq!(code, Some(0), "{said}");
}
