//! Exports on the servers themselves, where they are installed: each accepts its export, and then sends the exported fields on the
//! right URLs and on no others.

use crate::exports::advice;
use corpus::Page;
use lab::export::{Advice, Document, Line, NamedBy, Server};
use schedulers::Priority;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A server program, and how it is run with one file that includes the export.
pub(crate) struct Program {
    /// As exports call it.
    pub(crate) name: &'static str,
    /// As the system calls it.
    pub(crate) executable: &'static str,
    /// The file of its configuration.
    pub(crate) file: &'static str,
    /// The configuration. In it %FOLDER% is the folder of the files, %PORT% a port without TLS, %HOST% the page's host, %MODULES% the
    /// folder of modules, and %EXPORT% the export, indented.
    pub(crate) configuration: &'static str,
    /// Arguments with which it checks the configuration.
    pub(crate) check: &'static [&'static str],
    /// Arguments with which it serves, in this process.
    pub(crate) run: &'static [&'static str],
}

pub(crate) const NGINX: Program = Program {
    name: "nginx",
    executable: "nginx",
    file: "nginx.conf",
    configuration: "pid %FOLDER%/pid;\nerror_log %FOLDER%/log;\ndaemon off;\nmaster_process off;\nevents {}\nhttp {\n\
        client_body_temp_path %FOLDER%/1;\nproxy_temp_path %FOLDER%/2;\nfastcgi_temp_path %FOLDER%/3;\nuwsgi_temp_path %FOLDER%/4;\n\
        scgi_temp_path %FOLDER%/5;\naccess_log off;\ninclude %FOLDER%/utmost.conf;\n\
        server { listen 127.0.0.1:%PORT% http2; root %FOLDER%/site; }\n}\n",
    check: &["-t", "-p", "%FOLDER%", "-c", "%FOLDER%/nginx.conf"],
    run: &["-p", "%FOLDER%", "-c", "%FOLDER%/nginx.conf"],
};

pub(crate) const CADDY: Program = Program {
    name: "caddy",
    executable: "caddy",
    file: "Caddyfile",
    configuration: "{\nadmin off\nauto_https off\nservers {\nprotocols h1 h2c\n}\n}\nhttp://%HOST%:%PORT% {\nbind 127.0.0.1\n\
        root * %FOLDER%/site\nimport utmost.conf\nfile_server\n}\n",
    check: &["validate", "--adapter", "caddyfile", "--config", "%FOLDER%/Caddyfile"],
    run: &["run", "--adapter", "caddyfile", "--config", "%FOLDER%/Caddyfile"],
};

pub(crate) const H2O: Program = Program {
    name: "h2o",
    executable: "h2o",
    file: "h2o.conf",
    configuration: "listen:\n  host: 127.0.0.1\n  port: %PORT%\nhosts:\n  \"%HOST%\":\n    paths:\n      \"/\":\n%EXPORT%        \
        - file.dir: %FOLDER%/site\n",
    check: &["-m", "test", "-c", "%FOLDER%/h2o.conf"],
    run: &["-c", "%FOLDER%/h2o.conf"],
};

pub(crate) const APACHE: Program = Program {
    name: "apache",
    executable: "apache2",
    file: "httpd.conf",
    configuration: "ServerRoot %FOLDER%\nServerName localhost\nDefaultRuntimeDir %FOLDER%\nPidFile %FOLDER%/pid\nErrorLog %FOLDER%/log\n\
        LoadModule mpm_event_module %MODULES%/mod_mpm_event.so\nLoadModule headers_module %MODULES%/mod_headers.so\n\
        LoadModule http2_module %MODULES%/mod_http2.so\nLoadModule dir_module %MODULES%/mod_dir.so\n\
        LoadModule authz_core_module %MODULES%/mod_authz_core.so\n\
        User nobody\nGroup nogroup\nListen 127.0.0.1:%PORT%\nProtocols h2c http/1.1\n\
        <VirtualHost *:%PORT%>\nDocumentRoot %FOLDER%/site\nDirectoryIndex index.html\nInclude %FOLDER%/utmost.conf\n</VirtualHost>\n",
    check: &["-t", "-f", "%FOLDER%/httpd.conf"],
    run: &["-X", "-f", "%FOLDER%/httpd.conf"],
};

/// A folder with a configuration, the export, and the files of a site.
pub(crate) struct Sandbox {
    folder: tempfile::TempDir,
    program: PathBuf,
    pub(crate) port: u16,
}

impl Program {
    /// Major and minor version; `None` if it is not installed, or does not print it.
    pub(crate) fn version(&self) -> Option<(u32, u32)> {
        let output =
            Command::new(fixtures::program(self.executable)?).arg("--version").output().ok()?;
        let said = String::from_utf8_lossy(&output.stdout);
        let word =
            said.split_whitespace().find_map(|it| it.trim_start_matches('v').split_once('.'))?;
        let minor = word.1.split('.').next()?;
        Some((word.0.parse().ok()?, minor.parse().ok()?))
    }

    /// `None`: it is not installed, and the test is counted as skipped.
    pub(crate) fn sandbox(&self, host: &str, advice: &Advice) -> Option<Sandbox> {
        let program = fixtures::program(self.executable)?;
        let folder = tempfile::tempdir().expect("a folder");
        // Servers that were started as root read files as nobody.
        let everyone = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(folder.path(), everyone).expect("permissions");
        std::fs::create_dir(folder.path().join("site")).expect("a folder");
        let port = free_port();
        let server: Server = self.name.parse().expect("a server");
        let export = server.export(advice);
        let indented: Vec<String> = export.lines().map(|it| format!("        {it}\n")).collect();
        let modules = program.parent().expect("a folder").join("../lib/apache2/modules");
        let text = self
            .configuration
            .replace("%FOLDER%", folder.path().to_str().expect("UTF-8"))
            .replace("%MODULES%", modules.to_str().expect("UTF-8"))
            .replace("%PORT%", &port.to_string())
            .replace("%HOST%", host)
            .replace("%EXPORT%", &indented.concat());
        std::fs::write(folder.path().join(self.file), text).expect("written");
        std::fs::write(folder.path().join("utmost.conf"), export).expect("written");
        Some(Sandbox { folder, program, port })
    }
}

impl Sandbox {
    fn command(&self, arguments: &[&str]) -> Command {
        let folder = self.folder.path();
        let path = folder.to_str().expect("UTF-8");
        let mut command = Command::new(&self.program);
        command.args(arguments.iter().map(|it| it.replace("%FOLDER%", path)));
        command.current_dir(folder).env("HOME", folder).stdin(Stdio::null());
        command
    }

    /// A file of the site: `path` on the server.
    pub(crate) fn add_file(&self, path: &str, bytes: usize) {
        let file = self.folder.path().join("site").join(path.trim_start_matches('/'));
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        std::fs::write(file, vec![b'.'; bytes]).expect("written");
    }

    pub(crate) fn serve(&self, arguments: &[&str]) -> Serving {
        let log = std::fs::File::create(self.folder.path().join("output")).expect("a file");
        let child = self.command(arguments).stdout(Stdio::null()).stderr(log).spawn();
        Serving(child.expect("it starts"))
    }

    /// Waits until it answers; `None`: curl is not installed.
    pub(crate) fn wait(&self, url: &str) -> Option<()> {
        let mut command = Command::new(fixtures::program("curl")?);
        command.args(["--silent", "--insecure", "--max-time", "30", "--output", "/dev/null"]);
        command.args(["--retry-all-errors", "--retry", "9", "--retry-delay", "1"]);
        command.args(["--http2-prior-knowledge", "--noproxy", "*", url]);
        let status = command.status().expect("curl runs");
        assert!(status.success(), "{url}: {status} {}", self.output());
        Some(())
    }

    /// What the server wrote to its standard error.
    pub(crate) fn output(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("output")).unwrap_or_default()
    }
}

/// A server that ends with the test.
pub(crate) struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    listener.local_addr().expect("an address").port()
}

#[track_caller]
fn takes(program: &Program, advice: &Advice) {
    let Some(sandbox) = program.sandbox("shop.example", advice) else { return };
    let output = sandbox.command(program.check).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn nginx_takes_its_export() {
    takes(&NGINX, &advice());
}

#[test]
fn caddy_takes_its_export() {
    takes(&CADDY, &advice());
}

#[test]
fn h2o_takes_its_export() {
    takes(&H2O, &advice());
}

#[test]
fn apache_takes_its_export() {
    takes(&APACHE, &advice());
}

#[test]
fn every_server_begins_with_long_paths() {
    let page = corpus::page("agency-index").expect("a bundled page");
    for program in [&NGINX, &CADDY, &H2O, &APACHE] {
        for bytes in [20, 40, 210, 235, 256, 480, 1000, 3500] {
            let mut advice = advice_for(&page);
            advice.lines.truncate(1);
            advice.lines[0].path = format!("/{}", "a".repeat(bytes - 1));
            takes(program, &advice);
        }
    }
}

/// What a bundled page should send differently: priorities of three resources, a link, and early hints.
fn advice_for(page: &Page) -> Advice {
    let host = http3::host(page.host(0)).to_owned();
    let line = |path: &str, priority| {
        let id = page.resources.iter().position(|it| it.url == path).expect("a resource");
        Line {
            host: host.clone(),
            is_elsewhere: false,
            path: path.to_owned(),
            url: path.to_owned(),
            resource: page.resources[id].for_scheduler(),
            script: page.resources[id].script,
            named_by: NamedBy::Document,
            priority,
            later_ms: None,
        }
    };
    Advice {
        found: Vec::new(),
        lines: vec![
            line("/assets/img/header-bg.jpg", Priority::new(0, true)),
            line("/v/fa-all.js", Priority::new(0, false)),
            line("/assets/img/portfolio/4.jpg", Priority::new(6, false)),
        ],
        documents: vec![Document {
            host: host.clone(),
            path: page.resources[0].url.clone(),
            links: vec![
                "</assets/img/header-bg.jpg>; rel=preload; as=image".to_owned(),
                "</v/montserrat/files/montserrat-latin-400-normal.woff2>; rel=preload; as=font; crossorigin".to_owned(),
            ],
            early_hints: vec![
                "</css/styles.css>; rel=preload; as=style".to_owned(),
                "</v/fa-all.js>; rel=preload; as=script".to_owned(),
            ],
        }],
        ..Advice::default()
    }
}

/// The fields of one answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Answer {
    status: String,
    priorities: Vec<String>,
    links: Vec<String>,
    /// Links of early hints.
    hinted: Vec<String>,
}

/// The answer to this URL over HTTP/2, for a browser that goes to a page.
fn answer(sandbox: &Sandbox, url: &str, arguments: &[&str]) -> Answer {
    let mut command = Command::new("curl");
    command.args(["--silent", "--max-time", "30", "--retry-connrefused", "--noproxy", "*"]);
    command.args(["--retry", "5", "--retry-delay", "1", "--http2-prior-knowledge"]);
    command.args(["--header", "Sec-Fetch-Mode: navigate", "--dump-header", "-"]);
    command.arg("--connect-to").arg(format!("::127.0.0.1:{}", sandbox.port));
    command.args(arguments);
    let output = command.args(["--output", "/dev/null", url]).output().expect("curl runs");
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success(), "{} {said} {}", output.status, sandbox.output());
    read(&said)
}

/// Reads what `--dump-header` wrote of one answer.
fn read(said: &str) -> Answer {
    let mut answer = Answer::default();
    for block in said.split("\r\n\r\n").filter(|it| !it.trim().is_empty()) {
        let mut lines = block.lines();
        let status = lines.next().and_then(|it| it.split(' ').nth(1)).unwrap_or_default();
        let fields: Vec<(&str, &str)> = lines.filter_map(|it| it.split_once(": ")).collect();
        let values = |name: &str| -> Vec<String> {
            fields.iter().filter(|it| it.0 == name).map(|it| it.1.to_owned()).collect()
        };
        let links = values("link").join(", ").split(", ").map(str::to_owned).collect::<Vec<_>>();
        let links = links.into_iter().filter(|it| !it.is_empty());
        if status == "103" {
            answer.hinted.extend(links);
        } else {
            answer.links.extend(links);
            answer.priorities = values("priority");
            status.clone_into(&mut answer.status);
        }
    }
    answer
}

/// Runs the server with the export for a page, and compares each answer with the export. `hinted`: the links of its early hints.
#[track_caller]
fn sends_what_its_export_says(program: &Program, hinted: fn(&Document) -> Vec<String>) {
    let page = corpus::page("agency-index").expect("a bundled page");
    let advice = advice_for(&page);
    let host = &advice.lines[0].host;
    let Some(sandbox) = program.sandbox(host, &advice) else { return };
    if fixtures::program("curl").is_none() {
        return;
    }
    for it in &page.resources {
        sandbox.add_file(&it.url, usize::try_from(it.bytes).expect("short"));
    }
    let mut paths: Vec<String> = page.resources.iter().map(|it| it.url.clone()).collect();
    paths.extend(["/?from=mail", "/v/fa-all.js?version=2", "/"].map(str::to_owned));
    let _serving = sandbox.serve(program.run);
    let document = &advice.documents[0];
    for path in paths {
        let known = path.split('?').next().unwrap_or_default();
        let line = advice.lines.iter().find(|it| it.path == known);
        let is_document = ["/", "/index.html"].contains(&known);
        let expected = Answer {
            status: "200".to_owned(),
            priorities: line.iter().map(|it| it.priority.to_string()).collect(),
            links: if is_document { all_links(document) } else { Vec::new() },
            hinted: if is_document { hinted(document) } else { Vec::new() },
        };
        assert_eq!(answer(&sandbox, &format!("http://{host}{path}"), &[]), expected, "{path}");
    }
}

fn all_links(document: &Document) -> Vec<String> {
    document.early_hints.iter().chain(&document.links).cloned().collect()
}

#[test]
fn nginx_sends_what_its_export_says() {
    sends_what_its_export_says(&NGINX, |_| Vec::new());
}

#[test]
fn caddy_sends_what_its_export_says() {
    // `respond 103` sends all fields that the answer has by then.
    sends_what_its_export_says(&CADDY, all_links);
}

#[test]
fn h2o_sends_what_its_export_says() {
    let has_hints = H2O.version().is_some_and(|it| it >= (2, 3));
    let hinted: fn(&Document) -> Vec<String> =
        if has_hints { |it| it.early_hints.clone() } else { |_| Vec::new() };
    sends_what_its_export_says(&H2O, hinted);
}

#[test]
fn apache_sends_what_its_export_says() {
    sends_what_its_export_says(&APACHE, |it| it.early_hints.clone());
}

/// Runs the server with an export for paths that decoding changes, at a name and at an IPv6 address.
#[track_caller]
fn sends_on_odd_urls(program: &Program) {
    let files = ["/late x.jpg", "/b\u{fc}cher.jpg", "/late;v=1.jpg", "/plain.jpg"];
    let paths = ["/late%20x.jpg", "/b%C3%BCcher.jpg", "/late;v=1.jpg", "/plain.jpg"];
    let page = corpus::page("agency-index").expect("a bundled page");
    for host in ["shop.example", "[::1]"] {
        let mut advice = advice_for(&page);
        let some = advice.lines[0].clone();
        advice.lines.clear();
        advice.documents.clear();
        for path in paths {
            let (host, path) = (host.to_owned(), path.to_owned());
            advice.lines.push(Line {
                host,
                path,
                priority: Priority::new(6, false),
                ..some.clone()
            });
        }
        let Some(sandbox) = program.sandbox(host, &advice) else { return };
        if fixtures::program("curl").is_none() {
            return;
        }
        for file in &files {
            sandbox.add_file(file, 9);
        }
        let _serving = sandbox.serve(program.run);
        let expected = vec![advice.lines[0].priority.to_string()];
        for path in paths {
            let answer = answer(&sandbox, &format!("http://{host}{path}"), &[]);
            assert_eq!(
                (&*answer.status, answer.priorities),
                ("200", expected.clone()),
                "{host}{path}"
            );
        }
        let upper = ["--header", "Host: SHOP.EXAMPLE"];
        let answer = answer(&sandbox, &format!("http://{host}/plain.jpg"), &upper);
        let expected = if host == "[::1]" { Vec::new() } else { expected };
        assert_eq!(answer.priorities, expected, "{upper:?} for {host}");
    }
}

#[test]
fn nginx_sends_priorities_on_paths_that_decoding_changes_and_at_addresses() {
    sends_on_odd_urls(&NGINX);
}

#[test]
fn caddy_sends_priorities_on_paths_that_decoding_changes_and_at_addresses() {
    sends_on_odd_urls(&CADDY);
}

#[test]
fn h2o_sends_priorities_on_paths_that_decoding_changes_and_at_addresses() {
    sends_on_odd_urls(&H2O);
}

#[test]
fn apache_sends_priorities_on_paths_that_decoding_changes_and_at_addresses() {
    sends_on_odd_urls(&APACHE);
}

#[test]
fn h2o_answers_a_request_without_a_host_as_without_the_export() {
    let Some(sandbox) = H2O.sandbox("shop.example", &advice()) else { return };
    if fixtures::program("curl").is_none() {
        return;
    }
    sandbox.add_file("/late.js", 9);
    let _serving = sandbox.serve(H2O.run);
    let empty = ["--http1.1", "--header", "Host;"];
    assert_eq!(answer(&sandbox, "http://shop.example/late.js", &empty).status, "200");
}
