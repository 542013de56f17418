//! The certificates of `--cert` and `--key`, or the self-signed one in their place, and its description.

use crate::Failure;
use crate::failure::Faults;
use server::{Identity, Validity};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::SystemTime;

/// Pairs each certificate with the key at the same position. A client gets the one that covers the host it requests. `None`:
/// the flags name no certificate.
pub(crate) fn of_flags(
    certificates: &[PathBuf],
    keys: &[PathBuf],
    faults: &mut Faults,
) -> Option<Identity> {
    if certificates.len() != keys.len() {
        faults.add(Failure::BadInput(format!(
            "--cert, --key: {} certificates and {} keys; each certificate needs its key, in the same order",
            certificates.len(),
            keys.len()
        )));
    }
    let mut all: Option<Identity> = None;
    for (certificate, key) in certificates.iter().zip(keys) {
        let one = Identity::load(certificate, key).map_err(Failure::in_flag("--cert, --key"));
        let Some(one) = faults.kept(one) else { continue };
        all = Some(match all {
            Some(first) => first.beside(one),
            None => one,
        });
    }
    all
}

/// The certificates of these files, or the self-signed one, each with its name.
pub(crate) fn named(identity: &Identity, files: &[PathBuf]) -> Vec<(String, Validity)> {
    let names = files.iter().map(|it| it.display().to_string());
    let own = files.is_empty().then(|| "the self-signed certificate".to_owned());
    names.chain(own).zip(identity.validities()).collect()
}

/// Why browsers reject the certificates, or soon will. `hosts`: the hosts that the routes name.
pub(crate) fn warnings(
    certificates: &[(String, Validity)],
    hosts: &BTreeSet<&str>,
    now: SystemTime,
) -> Vec<String> {
    let mut warnings = Vec::new();
    for (name, certificate) in certificates {
        warnings.extend(certificate.fault(now).map(|it| format!("{name}: {it}")));
    }
    for host in hosts {
        if !certificates.iter().any(|(_, certificate)| certificate.covers(host)) {
            warnings.push(format!(
                "[[route]] host \"{host}\": no certificate is for this host: browsers refuse it; get one that names it"
            ));
        }
    }
    warnings
}

/// How browsers react to a self-signed certificate for these hosts.
pub(crate) fn self_signed(hosts: &[String], pin: &str) -> String {
    let names = [&["localhost".to_owned()], hosts].concat().join(", ");
    format!(
        "no --cert: using a self-signed certificate for {names}, valid for 30 days; Chromium accepts it with --ignore-certificate-errors-spki-list={pin}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn told(hosts: &[&str], days: u64) -> Vec<String> {
        let identity = Identity::self_signed_for(&["a.test".to_owned()]).expect("a certificate");
        let certificates = named(&identity, &[PathBuf::from("cert.pem")]);
        let hosts = hosts.iter().copied().collect();
        let now = certificates[0].1.from + Duration::from_secs(days * 24 * 60 * 60);
        warnings(&certificates, &hosts, now)
    }

    #[test]
    fn a_certificate_that_expires_soon_and_a_host_that_none_names_are_told() {
        assert_eq!(told(&["a.test", "localhost", "127.0.0.1"], 10), [""; 0]);
        let late = told(&[], 31);
        assert!(late[0].starts_with("cert.pem: it expired on "), "{late:?}");
        let other = told(&["a.test", "b.test"], 10);
        assert!(
            other.len() == 1 && other[0].contains("host \"b.test\": no certificate"),
            "{other:?}"
        );
    }
}
