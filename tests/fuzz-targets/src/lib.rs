//! The checks of the fuzzers, a module for each. Fuzzers in `fuzz/` search for inputs by code coverage; they need a
//! nightly compiler. The tests here need none: they play stored inputs that a fuzzer found, and mutated copies of
//! these.

pub mod connection;
pub mod frame;
pub mod gateway;
pub mod migration;
pub mod session;

#[cfg(test)]
mod tests {
    use super::{connection, frame, gateway, migration, session};
    use rand::seq::IndexedRandom;
    use rand::{Rng, RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use std::path::Path;

    /// With this variable, a test plays as many inputs as a core handles in about twenty seconds; without it, in
    /// three.
    const LONG: &str = "UTMOST_FUZZ_LONG";
    /// The longest input that changes make.
    const BYTES_MAX: usize = 4096;

    /// Plays the stored inputs of a target, and a part of `cases` mutated ones, all of which would take a minute.
    fn survives(name: &str, play: fn(&[u8]), cases: usize) {
        let kept = kept(name);
        let cases = if std::env::var_os(LONG).is_some() { cases / 3 } else { cases / 20 };
        let mut chance = ChaCha8Rng::seed_from_u64(1);
        let changed = (0..cases).map(|_| changed(&kept, &mut chance));
        for input in kept.iter().cloned().chain(changed) {
            let played = std::panic::catch_unwind(|| play(&input));
            assert!(played.is_ok(), "{name}: {input:02x?}");
        }
    }

    /// The files of a target's folder, sorted by name.
    fn kept(name: &str) -> Vec<Vec<u8>> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("inputs").join(name);
        let files =
            std::fs::read_dir(folder).expect("a folder").map(|it| it.expect("a file").path());
        let mut files: Vec<_> = files.collect();
        files.sort();
        assert!(!files.is_empty(), "{name} has no inputs");
        files.iter().map(|it| std::fs::read(it).expect("a file")).collect()
    }

    /// A stored input with up to eight changes.
    fn changed(kept: &[Vec<u8>], chance: &mut ChaCha8Rng) -> Vec<u8> {
        let mut input = kept.choose(chance).cloned().unwrap_or_default();
        for _ in 0..chance.random_range(1..=8) {
            change(&mut input, kept, chance);
        }
        input.truncate(BYTES_MAX);
        input
    }

    fn change(input: &mut Vec<u8>, kept: &[Vec<u8>], chance: &mut ChaCha8Rng) {
        let place = chance.random_range(0..=input.len());
        let end = input.len().min(place + chance.random_range(1..=32));
        match chance.random_range(0..6) {
            0 => input[place..end].iter_mut().for_each(|it| *it ^= 1 << chance.random_range(0..8)),
            1 => input[place..end]
                .fill(*[0, 1, 0x3f, 0x40, 0x7f, 0x80, 0xff].choose(chance).unwrap_or(&0)),
            2 => drop(input.drain(place..end)),
            3 => {
                let again = input[place..end].to_vec();
                input.splice(place..place, again);
            }
            4 => {
                let mut bytes = vec![0; end - place + 1];
                chance.fill_bytes(&mut bytes);
                input.splice(place..end, bytes);
            }
            _ => {
                let other = kept.choose(chance).map_or(&[][..], Vec::as_slice);
                input.truncate(place);
                input.extend(&other[other.len().min(place)..]);
            }
        }
    }

    #[test]
    fn no_client_stops_the_server_or_leaves_something_in_it() {
        survives("connection", connection::play, 3_000);
    }

    #[test]
    fn frames_mean_the_same_whole_and_in_pieces() {
        survives("frame", frame::play, 5_000_000);
    }

    #[test]
    fn no_fields_open_a_tunnel_or_trail_that_must_not() {
        survives("gateway", gateway::play, 2_000_000);
    }

    #[test]
    fn no_migrate_frame_takes_an_end_past_what_was_sent() {
        survives("migration", migration::play, 10_000_000);
    }

    #[test]
    fn no_calls_get_more_out_of_a_session_than_they_put_in() {
        survives("session", session::play, 15_000_000);
    }
}
