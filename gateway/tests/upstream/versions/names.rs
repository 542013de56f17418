//! Several certificates: each client gets the one for the host that it requests.

use super::clients::certificate;
use super::{Serving, folder};
use crate::fetch;
use boring::x509::X509;
use server::{Identity, Limits};

/// The last name in a certificate, which distinguishes ours.
fn last_name(certificate: &[u8]) -> String {
    let names = X509::from_der(certificate).expect("one").subject_alt_names().expect("names");
    names.iter().filter_map(|it| it.dnsname()).next_back().expect("a host").to_owned()
}

#[test]
fn each_host_has_its_certificate_over_all_versions() {
    let of = |name: &str| Identity::self_signed_for(&[name.to_owned()]).expect("a certificate");
    let identity = of("a.test").beside(of("b.test")).beside(of("*.c.test"));
    let (_folder, site) = folder(&[("a", b"a")]);
    let server = Serving::showing(&identity, site, Limits::default());
    for (asked, shown) in [
        ("a.test", "a.test"),
        ("B.test", "b.test"),
        ("x.c.test", "*.c.test"),
        ("unknown.test", "a.test"),
    ] {
        let over_tcp = |protocol: &[u8]| certificate(server.address, protocol, asked);
        let all = [
            fetch::certificate(server.address, asked),
            over_tcp(b"\x02h2"),
            over_tcp(b"\x08http/1.1"),
        ];
        assert_eq!(all.map(|it| last_name(&it)), [shown; 3], "{asked}");
    }
}
