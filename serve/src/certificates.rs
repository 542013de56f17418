//! The certificates of `--cert` and `--key`, and what is said of the one that is made for want of them.

use crate::Failure;
use crate::command::in_flag;
use server::Identity;
use std::path::PathBuf;

/// The certificates of these files, each with the key in the same place; a client gets the one that names the host it asks for.
/// `None`: there are none.
pub(crate) fn of_flags(
    certificates: &[PathBuf],
    keys: &[PathBuf],
) -> Result<Option<Identity>, Failure> {
    if certificates.len() != keys.len() {
        return Err(Failure::BadInput(format!(
            "--cert, --key: {} certificates and {} keys; each certificate needs its key, in the same order",
            certificates.len(),
            keys.len()
        )));
    }
    let mut all: Option<Identity> = None;
    for (certificate, key) in certificates.iter().zip(keys) {
        let one = Identity::load(certificate, key).map_err(in_flag("--cert, --key"))?;
        all = Some(match all {
            Some(first) => first.beside(one),
            None => one,
        });
    }
    Ok(all)
}

/// How a browser takes a certificate that was made on the spot for these hosts.
pub(crate) fn self_signed(hosts: &[String], pin: &str) -> String {
    let names = [&["localhost".to_owned()], hosts].concat().join(", ");
    format!(
        "no --cert: using a self-signed certificate for {names}, valid for 30 days; Chromium takes it with \
         --ignore-certificate-errors-spki-list={pin}"
    )
}
