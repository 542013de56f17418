//! nginx and Caddy with the same files, over plain HTTP, each in a separate process that ends with its
//! test.

use super::clients::{ask_1, plain};
use crate::fetch::{Ask, Fetched};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// Another server that runs.
pub(crate) struct Neighbour {
    process: Child,
    pub(crate) address: SocketAddr,
    _folder: TempDir,
}

impl Neighbour {
    /// `None`: it is not installed, and the test is counted as skipped.
    pub(crate) fn nginx(root: &Path) -> Option<Self> {
        let configuration = "daemon off; user root; pid %HERE%/pid; error_log %HERE%/error;
            events {}
            http {
              access_log off; default_type application/octet-stream;
              types {
                text/html html; text/css css; text/javascript js mjs; text/plain txt;
                application/json json map; application/manifest+json webmanifest; font/woff2 woff2;
              }
              charset utf-8; charset_types text/css text/javascript text/plain;
              gzip on; gzip_vary on; gzip_min_length 256; gzip_static on;
              gzip_types text/css text/javascript text/plain; gzip_proxied any; gzip_http_version 1.0;
              if_modified_since before; absolute_redirect off;
              server { listen %ADDRESS%; root %ROOT%; }
            }";
        Self::start("nginx", configuration, root, &["-c", "%HERE%/conf", "-p", "%HERE%"])
    }

    /// The same.
    pub(crate) fn caddy(root: &Path) -> Option<Self> {
        let configuration = "{
                admin off
                auto_https off
                servers {
                    protocols h1
                }
            }
            :%PORT% {
                bind 127.0.0.1
                root * %ROOT%
                encode zstd gzip {
                    minimum_length 256
                }
                file_server {
                    precompressed gzip
                }
            }";
        let arguments = ["run", "--adapter", "caddyfile", "--config", "%HERE%/conf"];
        Self::start("caddy", configuration, root, &arguments)
    }

    fn start(name: &str, configuration: &str, root: &Path, arguments: &[&str]) -> Option<Self> {
        let program = fixtures::program(name)?;
        let folder = tempfile::tempdir().expect("a folder");
        let free = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr());
        let address = free.expect("a free port");
        let here = folder.path().to_str().expect("UTF-8");
        let filled = |text: &str| {
            text.replace("%HERE%", here)
                .replace("%ROOT%", root.to_str().expect("UTF-8"))
                .replace("%PORT%", &address.port().to_string())
                .replace("%ADDRESS%", &address.to_string())
        };
        std::fs::write(folder.path().join("conf"), filled(configuration)).expect("written");
        let mut command = Command::new(program);
        command.args(arguments.iter().map(|it| filled(it))).env("HOME", here);
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
        let mut started = Self { process, address, _folder: folder };
        while !fixtures::listens(address.port()) {
            let ended = started.process.try_wait().expect("a process");
            assert_eq!(ended, None, "{name} has ended");
            std::thread::yield_now();
        }
        Some(started)
    }

    pub(crate) fn ask(&self, ask: &Ask) -> Fetched {
        ask_1(plain(self.address), ask)
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        let id = self.process.id().to_string();
        // The workers of nginx end with it only if it may say so.
        Command::new("kill").args(["-QUIT", &id]).status().ok();
        self.process.wait().ok();
    }
}
