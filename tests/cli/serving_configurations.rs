//! What `utmost serve` says of a configuration: mistakes, and settings in vain.

use crate::serving::{Serving, private_key};
use crate::{data, utmost};

#[test]
fn a_route_for_a_host_that_no_certificate_names_is_warned_of() {
    let (folder, key) = private_key();
    let file = folder.path().join("site.toml");
    let route = |host: &str| {
        format!("[[route]]\nhost = \"{host}\"\npath = \"/\"\nlinks = [\"</a.css>; rel=preload\"]\n")
    };
    let text =
        ["[site]\nroot = \".\"\n".to_owned(), route("localhost"), route("shop.example")].concat();
    std::fs::write(&file, text).expect("written");
    std::fs::write(folder.path().join("index.html"), "x").expect("written");
    let certificate = data("server.pem");
    let [file, certificate, key] =
        [&file, &certificate, &key].map(|it| it.to_str().expect("UTF-8"));
    let server = Serving::start(&["--config", file, "--cert", certificate, "--key", key]);
    let (code, stderr) = server.stop();
    let warnings: Vec<&str> = stderr.lines().filter(|it| it.starts_with("warning: ")).collect();
    let expected = "warning: [[route]] host \"shop.example\": no certificate is for this host: browsers refuse it; get one that names \
                    it";
    assert_eq!((code, &warnings[..]), (Some(0), &[expected][..]));
}

#[test]
fn a_check_lists_all_mistakes_at_once_and_serves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("site.toml");
    let text = "[site]\nroot = \"gone\"\nscheme = \"bogus\"\nsignals = \"no\"\n[[route]]\npath = \"x\"\n\
                [[route]]\nhost = \"b.test\"\npath = \"/*\"\nroot = \"nowhere\"\n";
    std::fs::write(&file, text).expect("written");
    let name = file.to_str().expect("UTF-8");
    let wrong = ["serve", "--check", "--config", name, "--cert", "c.pem", "--key", "k.pem"];
    let output = utmost(&wrong).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let said: Vec<&str> = said.lines().collect();
    let expected = [
        format!("{name}: line 2: root: "),
        format!("{name}: line 3: no scheme is named `bogus`"),
        format!("{name}: line 4: unknown variant `no`"),
        format!("{name}: line 6: path \"x\" must begin with /"),
        format!("{name}: line 10: root: "),
        "--cert, --key: c.pem: ".to_owned(),
    ];
    let is_said = said.iter().zip(&expected).all(|(one, begin)| one.starts_with(begin));
    assert!(is_said && said.len() == expected.len(), "{said:#?}");
    assert_eq!(output.status.code(), Some(2));
    let folder = folder.path().to_str().expect("UTF-8");
    let mut right = utmost(&["serve", "--check", "--root", folder, "--listen", "127.0.0.1:0"]);
    let right = right.output().expect("it runs");
    assert_eq!(right.status.code(), Some(0));
    assert_eq!(right.stdout, b"no mistakes: the server can start\n");
}

#[test]
fn what_a_configuration_says_in_vain_is_warned_of() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("style.css"), "x").expect("written");
    let file = folder.path().join("site.toml");
    let text = "[site]\nroot = \".\"\nsignals = \"ignore\"\n[[route]]\npath = \"/\"\npush = [\"/style.css\", \"/gone.css\"]\n\
                [route.resource.\"/index.html\"]\nurgency = 1\n";
    std::fs::write(&file, text).expect("written");
    let name = file.to_str().expect("UTF-8");
    let (code, stderr) = Serving::start(&["--config", name]).stop();
    let warnings: Vec<&str> = stderr.lines().filter(|it| it.starts_with("warning: ")).collect();
    let expected = [
        format!("warning: {name}: line 3: directives have no effect unless signals = \"override\""),
        format!("warning: {}/. has no index.html, so \"/\" is not found", folder.path().display()),
        format!(
            "warning: {name}: [[route]] path \"/\": push \"/gone.css\": the site has no such resource"
        ),
    ];
    assert_eq!((code, warnings), (Some(0), expected.iter().map(String::as_str).collect()));
}
