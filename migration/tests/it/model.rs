//! Both ends of one response in every order of events: proposals of either or both, to all kinds of destinations, frames
//! and bytes that overtake each other, connections that fail at one end and later or never at the other, and deadlines.
//!
//! Frames of one direction keep their order, as do the bytes of one stream, because control streams and streams are
//! reliable; nothing else does.

use http3::StreamId;
use migration::{
    Action, Continuation, Destination, Error, Kind, Migrate, Name, Place, Reads, Receiving, Secret,
    Sending, Subject,
};
use schedulers::Priority;
use stateright::{Checker, HasDiscoveries, Model, Property};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

/// The length of the response. Each of its bytes is its own offset.
const BYTES: u64 = 3;
/// What the server may send before the answer.
const CREDIT_BYTES: u64 = 2;
const SUBJECT: Subject = Subject::Request(StreamId(0));

/// What can happen, and how.
#[derive(Clone)]
struct Lab {
    source: Name,
    /// Two idle connections, the smaller name first.
    idle: [Name; 2],
    /// The connection that the client can open.
    new: Name,
    now: Instant,
    body: Body,
    fault: Option<Fault>,
}

/// Whether bytes can be sent again.
#[derive(Clone, Copy, PartialEq)]
enum Body {
    File,
    Relayed,
}

/// A mistake in an implementation, which the model must find.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    /// When the response returns, the server continues where it stopped.
    ServerIgnoresOffset,
    /// The server does not answer proposals.
    ServerIsSilent,
    /// The client reads a continuation as soon as it arrives.
    ClientIgnoresCut,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct World {
    server: Sending,
    client: Receiving,
    to_client: VecDeque<Migrate>,
    to_server: VecDeque<Migrate>,
    on_source: VecDeque<u64>,
    continuations: BTreeMap<Name, (u64, VecDeque<u64>)>,
    open_at_server: BTreeSet<Name>,
    open_at_client: BTreeSet<Name>,
    is_connecting: bool,
    read: u64,
    out_of_order: bool,
    frames_sent: [usize; 2],
    ended: [Option<Cause>; 2],
}

/// Why an end gave up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Cause {
    Failed(Error),
    SourceLost,
    /// The other end reset the streams.
    Reset,
}

const SERVER: usize = 0;
const CLIENT: usize = 1;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Step {
    ServerStarts(Destination),
    ClientAsks(Name),
    Connected(Option<Name>),
    ServerSends,
    ClientReads,
    FrameToClient,
    FrameToServer,
    LostAtServer(Name),
    LostAtClient(Name),
    SourceLostAt(usize),
    DeadlineAt(usize),
    ResetComesTo(usize),
}

impl Lab {
    fn new(body: Body) -> Self {
        let secrets = [1, 2, 3, 4].map(|it| Secret::new(&[it; 32]));
        let [first, others @ ..] = &secrets;
        let mut others = others.each_ref().map(|it| Name::next(first, it));
        others.sort_unstable();
        let [small, new, large] = others;
        #[expect(clippy::disallowed_methods, reason = "the model needs some moment to count from")]
        let now = Instant::now();
        let (source, idle) = (Name::first(first), [small, large]);
        Self { source, idle, new, now, body, fault: None }
    }

    /// A deadline far beyond those of the state machines.
    fn later(&self) -> Instant {
        self.now + Duration::from_secs(3600)
    }

    fn carry_out(&self, world: &mut World, end: usize, outcome: Result<Vec<Action>, Error>) {
        match outcome {
            Ok(actions) => actions.into_iter().for_each(|it| self.act(world, end, it)),
            Err(error) => world.ended[end] = Some(Cause::Failed(error)),
        }
    }

    fn act(&self, world: &mut World, end: usize, action: Action) {
        match action {
            Action::Send(frame) => self.send(world, end, frame),
            Action::Drop(name) => drop(world.continuations.remove(&name)),
            Action::Connect => world.is_connecting = true,
        }
    }

    fn send(&self, world: &mut World, end: usize, frame: Migrate) {
        let is_answer = frame.kind == Kind::Acknowledgement;
        if end == SERVER && is_answer && self.fault == Some(Fault::ServerIsSilent) {
            return;
        }
        world.frames_sent[end] += 1;
        if end == SERVER { &mut world.to_client } else { &mut world.to_server }.push_back(frame);
    }

    fn server_sends(&self, world: &mut World) {
        let offset = world.server.next();
        match world.server.place() {
            Place::Source => world.on_source.push_back(offset),
            Place::Destination(name, _) => {
                let stream = world.continuations.entry(name).or_insert((offset, VecDeque::new()));
                // Bytes on a connection that the client has lost go nowhere.
                if world.open_at_client.contains(&name) {
                    stream.1.push_back(offset);
                }
            }
            Place::Nowhere => {}
        }
        world.server.sent(1);
        if self.body == Body::Relayed {
            world.server.discarded(world.server.next());
        }
    }

    /// The continuation from which the client can read.
    fn readable(&self, world: &World) -> Option<Name> {
        let has_bytes = |it: &Name| world.continuations.get(it).is_some_and(|it| !it.1.is_empty());
        match world.client.reads() {
            Reads::Destination(name) => Some(name).filter(has_bytes),
            _ if self.fault == Some(Fault::ClientIgnoresCut) => {
                self.idle.into_iter().find(has_bytes)
            }
            _ => None,
        }
    }

    fn client_reads(&self, world: &mut World) {
        let byte = match self.readable(world) {
            Some(name) => {
                let Some((offset, bytes)) = world.continuations.get_mut(&name) else { return };
                let priority = Priority::default();
                let header = Continuation {
                    source: self.source,
                    subject: SUBJECT,
                    offset: *offset,
                    priority,
                };
                if self.fault.is_none() && world.client.continues(&header).is_err() {
                    world.ended[CLIENT] = Some(Cause::Failed(Error::Offset));
                }
                bytes.pop_front()
            }
            None => world.on_source.pop_front(),
        };
        world.out_of_order |= byte != Some(world.read);
        world.read += 1;
        world.client.read(1);
    }

    fn frame_to_server(&self, world: &mut World) {
        let Some(frame) = world.to_server.pop_front() else { return };
        let (before, open) = (world.server.next(), world.open_at_server.clone());
        let outcome = world.server.receive(&frame, &|it| open.contains(&it), self.now);
        if self.fault == Some(Fault::ServerIgnoresOffset) {
            world.server.sent(before - world.server.next());
        }
        self.carry_out(world, SERVER, outcome);
    }

    fn frame_to_client(&self, world: &mut World) {
        let Some(frame) = world.to_client.pop_front() else { return };
        let open = world.open_at_client.clone();
        let outcome = world.client.receive(&frame, &|it| open.contains(&it), self.now);
        self.carry_out(world, CLIENT, outcome);
    }

    /// False: nothing changed.
    fn fail(&self, world: &mut World, step: &Step) -> bool {
        let frame = match *step {
            Step::LostAtServer(name) => {
                world.open_at_server.remove(&name);
                world.server.destination_lost(name, self.now).map(|it| (SERVER, it))
            }
            Step::LostAtClient(name) => {
                world.open_at_client.remove(&name);
                if let Some((_, bytes)) = world.continuations.get_mut(&name) {
                    bytes.clear();
                }
                world.client.destination_lost(name).map(|it| (CLIENT, it))
            }
            Step::DeadlineAt(SERVER) => {
                let outcome = world.server.on_timeout(self.later());
                self.carry_out(world, SERVER, outcome.map(|()| Vec::new()));
                None
            }
            _ => match world.client.on_timeout(self.later()) {
                None => return false,
                frame => frame.map(|it| (CLIENT, it)),
            },
        };
        if let Some((end, frame)) = frame {
            self.send(world, end, frame);
        }
        true
    }

    /// The steps that need no decision and no failure.
    fn progress(&self, world: &World, steps: &mut Vec<Step>) {
        let is_over = world.ended.map(|it| it.is_some());
        let resets = [SERVER, CLIENT].into_iter().filter(|it| !is_over[*it] && is_over[1 - it]);
        steps.extend(resets.map(Step::ResetComesTo));
        if is_over != [false; 2] {
            return;
        }
        if world.is_connecting {
            steps.extend([Some(self.new), None].map(Step::Connected));
        }
        let reads_source = matches!(world.client.reads(), Reads::Source(_));
        let can_read = reads_source && !world.on_source.is_empty();
        let possible = [
            (can_send(world), Step::ServerSends),
            (can_read || self.readable(world).is_some(), Step::ClientReads),
            (!world.to_client.is_empty(), Step::FrameToClient),
            (!world.to_server.is_empty(), Step::FrameToServer),
        ];
        steps.extend(possible.into_iter().filter(|(it, _)| *it).map(|(_, step)| step));
    }
}

impl Model for Lab {
    type State = World;
    type Action = Step;

    fn init_states(&self) -> Vec<World> {
        let open: BTreeSet<Name> = self.idle.into();
        vec![World {
            server: Sending::new(self.source, SUBJECT),
            client: Receiving::new(self.source, SUBJECT),
            to_client: VecDeque::new(),
            to_server: VecDeque::new(),
            on_source: VecDeque::new(),
            continuations: BTreeMap::new(),
            open_at_server: open.clone(),
            open_at_client: open,
            is_connecting: false,
            read: 0,
            out_of_order: false,
            frames_sent: [0; 2],
            ended: [None; 2],
        }]
    }

    fn actions(&self, world: &World, steps: &mut Vec<Step>) {
        self.progress(world, steps);
        if world.ended == [None; 2] {
            let named = self.idle.map(Destination::Named);
            let destinations = named.into_iter().chain([Destination::Any]);
            steps.extend(destinations.map(Step::ServerStarts));
            steps.extend(self.idle.into_iter().chain([self.new]).map(Step::ClientAsks));
            failures(world, steps);
        }
    }

    fn next_state(&self, before: &World, step: Step) -> Option<World> {
        let mut world = before.clone();
        match step {
            Step::ServerStarts(to) => {
                let frame = world.server.start(to, CREDIT_BYTES, self.now)?;
                self.send(&mut world, SERVER, frame);
            }
            Step::ClientAsks(to) => {
                if to == self.new {
                    world.open_at_client.insert(to);
                    world.open_at_server.insert(to);
                }
                let frame = world.client.ask(to).filter(|_| world.open_at_client.contains(&to))?;
                self.send(&mut world, CLIENT, frame);
            }
            Step::Connected(on) => {
                world.is_connecting = false;
                world.open_at_client.extend(on);
                world.open_at_server.extend(on);
                let frame = world.client.connected(on, self.now)?;
                self.send(&mut world, CLIENT, frame);
            }
            Step::ServerSends => self.server_sends(&mut world),
            Step::ClientReads => self.client_reads(&mut world),
            Step::FrameToClient => self.frame_to_client(&mut world),
            Step::FrameToServer => self.frame_to_server(&mut world),
            Step::SourceLostAt(end) => world.ended[end] = Some(Cause::SourceLost),
            Step::ResetComesTo(end) => world.ended[end] = Some(Cause::Reset),
            Step::LostAtServer(_) | Step::LostAtClient(_) | Step::DeadlineAt(_) => {
                if !self.fail(&mut world, &step) {
                    return None;
                }
            }
        }
        if world.ended[SERVER].is_some() {
            world.server.end();
        }
        if world.ended[CLIENT].is_some() {
            world.client.end();
        }
        Some(world)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("no byte is lost or duplicated", |_, world: &World| {
                !world.out_of_order
            }),
            Property::always("no end accuses the other", |lab: &Lab, world: &World| {
                world.ended.iter().flatten().all(|it| match it {
                    Cause::Failed(Error::NotKept) => lab.body == Body::Relayed,
                    Cause::Failed(error) => *error == Error::Unanswered,
                    Cause::SourceLost | Cause::Reset => true,
                })
            }),
            Property::always("an end sends three frames at most", |_, world: &World| {
                world.frames_sent.iter().all(|it| *it <= 3)
            }),
            Property::always("both ends come to rest in one state", |lab: &Lab, world| {
                let mut steps = Vec::new();
                lab.progress(world, &mut steps);
                is_settled(world) || !steps.is_empty()
            }),
            Property::sometimes(
                "the response moves to the smaller of two names",
                |lab: &Lab, world: &World| {
                    let small = lab.idle[0];
                    world.read == BYTES
                        && world.frames_sent == [2, 1]
                        && world.server.place() == Place::Destination(small, u64::MAX)
                },
            ),
            Property::sometimes(
                "the response moves to a new connection",
                |lab: &Lab, world: &World| {
                    world.read == BYTES && world.client.reads() == Reads::Destination(lab.new)
                },
            ),
            Property::sometimes("both ends bring it back at once", |_, world: &World| {
                let lost = [&world.open_at_server, &world.open_at_client].map(|it| it.len() < 2);
                world.read == BYTES && world.frames_sent == [2, 2] && lost == [true; 2]
            }),
            Property::sometimes("three frames are sent", |_, world: &World| {
                world.frames_sent[SERVER] == 3
            }),
        ]
    }
}

/// Whether the server has bytes, and a place for them.
fn can_send(world: &World) -> bool {
    world.server.next() < BYTES
        && match world.server.place() {
            Place::Source => true,
            Place::Destination(name, end) => {
                world.server.next() < end && world.open_at_server.contains(&name)
            }
            Place::Nowhere => false,
        }
}

/// What can fail at any time.
fn failures(world: &World, steps: &mut Vec<Step>) {
    steps.extend(world.open_at_server.iter().map(|it| Step::LostAtServer(*it)));
    steps.extend(world.open_at_client.iter().map(|it| Step::LostAtClient(*it)));
    steps.extend([SERVER, CLIENT].map(Step::SourceLostAt));
    let deadlines = [world.server.next_timeout(), world.client.next_timeout()];
    let due = [SERVER, CLIENT].into_iter().filter(|it| deadlines[*it].is_some());
    steps.extend(due.map(Step::DeadlineAt));
}

/// The client has every byte and both ends agree where the response is, or both know that it failed.
fn is_settled(world: &World) -> bool {
    if world.ended.iter().all(Option::is_some) {
        return true;
    }
    let agree = match (world.server.place(), world.client.reads()) {
        (Place::Source, Reads::Source(_)) => true,
        (Place::Destination(ours, end), Reads::Destination(theirs)) => {
            ours == theirs && end == u64::MAX
        }
        _ => false,
    };
    agree && world.read == BYTES
}

/// Explores every order of events until `enough` was found, and prints how many states there are.
fn check(lab: Lab, enough: HasDiscoveries) -> impl Checker<Lab> {
    let checker = lab.checker().finish_when(enough).spawn_bfs().join();
    println!(
        "{} states, {} of them different, at most {} steps",
        checker.state_count(),
        checker.unique_state_count(),
        checker.max_depth()
    );
    checker
}

#[test]
fn a_file_arrives_whatever_the_order_of_events() {
    check(Lab::new(Body::File), HasDiscoveries::AnyFailures).assert_properties();
}

#[test]
fn a_relayed_response_arrives_or_ends_in_an_error() {
    check(Lab::new(Body::Relayed), HasDiscoveries::AnyFailures).assert_properties();
}

#[test]
fn the_model_finds_lost_bytes_a_deadlock_and_early_reading() {
    for (fault, broken) in [
        (Fault::ServerIgnoresOffset, "no byte is lost or duplicated"),
        (Fault::ServerIsSilent, "both ends come to rest in one state"),
        (Fault::ClientIgnoresCut, "no byte is lost or duplicated"),
    ] {
        let lab = Lab { fault: Some(fault), ..Lab::new(Body::File) };
        check(lab, HasDiscoveries::AllOf([broken].into())).assert_any_discovery(broken);
    }
}
