//! A soak: guests for a long time, during one attack after another.

use super::crowd::Crowd;
use super::{Attackers, StressError, Target, now};
use crate::attack::Attack;
use crate::client_connection::config;
use crate::files::File;
use crate::guests::{Guest, GuestAction, Seen};
use crate::limits::{GUESTS, SAMPLE_EACH};
use crate::loss::Loss;
use crate::memory::descriptors;
use crate::soaked::{Round, Sample, Soaked};
use connection::ClientConfig;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The plan of a soak.
#[derive(Clone)]
pub struct Soak {
    /// Its duration.
    pub length: Duration,
    /// The attacks, in turns.
    pub attacks: Vec<&'static Attack>,
    /// The duration of an attack, and of the phase before it.
    pub attack_length: Duration,
    /// The percentage of lost datagrams from and to guests.
    pub loss_percent: u32,
    /// How long a guest waits for an answer.
    pub patience: Duration,
    /// Whether guests' addresses change at times.
    pub moves: bool,
    /// The same seed makes guests act the same.
    pub seed: u64,
}

impl Soak {
    fn round_length(&self) -> Duration {
        2 * self.attack_length
    }

    /// The number of rounds.
    pub fn rounds(&self) -> u32 {
        let rounds = self.length.as_secs_f64() / self.round_length().as_secs_f64();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a positive number, and too large ones become the largest"
        )]
        (rounds as u32).max(1)
    }

    fn attack(&self, round: u32) -> &'static Attack {
        self.attacks[round as usize % self.attacks.len()]
    }
}

/// Carries out a soak; `tell` gets each round. Guests have their own thread, like an attack's visitors.
pub fn soak(
    target: &Target,
    plan: &Soak,
    mut tell: impl FnMut(&Round),
) -> Result<Soaked, StressError> {
    let start = now();
    std::thread::scope(|scope| {
        let attackers = scope.spawn(|| attack_in_turn(target, plan, start));
        let mut stay = Stay::new(target, plan)?;
        let mut rounds = Vec::new();
        for number in 0..plan.rounds() {
            let end = start + plan.round_length() * (number + 1);
            let samples = stay.go_on_until(end, || attackers.is_finished())?;
            let times = std::mem::take(&mut stay.seen.times);
            let round = Round::new(plan.attack(number).name, now() - start, times, &samples);
            tell(&round);
            rounds.push(round);
        }
        stay.wait_for_answers(now() + plan.patience)?;
        let attacked = attackers.join().unwrap_or(Err(StressError::Silent(target.address)))?;
        Ok(Soaked::judge(stay.seen, rounds, &attacked))
    })
}

/// Collects the server's forbidden actions towards attackers, and their number.
fn attack_in_turn(
    target: &Target,
    plan: &Soak,
    start: Instant,
) -> Result<BTreeMap<String, u64>, StressError> {
    let mut wrong = BTreeMap::new();
    for number in 0..plan.rounds() {
        let attack = plan.attack(number);
        let attackers = Attackers::new(target, attack, plan.attack_length)?;
        let begin = start + plan.round_length() * number + plan.attack_length;
        for failure in attackers.attack(begin)?.failures(attack.codes) {
            *wrong.entry(format!("{}: {failure}", attack.name)).or_default() += 1;
        }
    }
    Ok(wrong)
}

/// The guests and their connections.
struct Stay<'a> {
    crowd: Crowd<'a>,
    guests: Vec<Guest>,
    files: Vec<File>,
    seen: Seen,
}

impl<'a> Stay<'a> {
    fn new(target: &'a Target, plan: &Soak) -> Result<Self, StressError> {
        let mut crowd = Crowd::new(target)?;
        crowd.loss = Loss::new(plan.loss_percent, plan.seed);
        for _ in 0..GUESTS {
            crowd.join(&patient())?;
        }
        let guests = (0..GUESTS).map(|it| Guest::new(plan.seed, it, plan.patience, plan.moves));
        let mut guests: Vec<Guest> = guests.collect();
        for (member, guest) in crowd.members.iter_mut().zip(&mut guests) {
            guest.greet(&mut member.client);
        }
        Ok(Self { crowd, guests, files: target.files.clone(), seen: Seen::default() })
    }

    /// Returns the server's resource use meanwhile.
    fn go_on_until(
        &mut self,
        end: Instant,
        is_over: impl Fn() -> bool,
    ) -> Result<Vec<Sample>, StressError> {
        let mut samples = Vec::new();
        let mut next_sample = now();
        while now() < end && !is_over() {
            self.turn(true)?;
            if now() >= next_sample {
                next_sample += SAMPLE_EACH;
                samples.extend(sample(self.crowd.target));
            }
        }
        Ok(samples)
    }

    /// Until all requests are answered.
    fn wait_for_answers(&mut self, end: Instant) -> Result<(), StressError> {
        while now() < end && self.guests.iter().any(Guest::is_waiting) {
            self.turn(false)?;
        }
        Ok(())
    }

    fn turn(&mut self, may_ask: bool) -> Result<(), StressError> {
        for (number, guest) in self.guests.iter_mut().enumerate() {
            let client = &mut self.crowd.members[number].client;
            match guest.act(client, &mut self.files, &mut self.seen, may_ask, now()) {
                GuestAction::Nothing => {}
                GuestAction::NewAddress => self.crowd.move_to_new_address(number)?,
                GuestAction::NewConnection => {
                    let mut member = self.crowd.member(number, &patient())?;
                    guest.greet(&mut member.client);
                    self.crowd.members[number] = member;
                }
            }
        }
        let next = self.guests.iter().filter_map(Guest::next).min();
        Ok(self.crowd.turn(next)?)
    }
}

/// How guests connect: on a busy machine, under attack, and with loss.
fn patient() -> ClientConfig {
    ClientConfig { connect_within: Duration::from_secs(20), ..config() }
}

fn sample(target: &Target) -> Option<Sample> {
    Some((target.memory()?, descriptors(target.process?)?))
}
