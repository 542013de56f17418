//! A compact map from streams to values: a log may have millions of streams, and the nodes of a tree map that grows at
//! its end stay half empty.

use std::collections::BTreeMap;

/// The most values that are moved when space runs out.
const CHUNK: usize = 1024;

#[derive(Default)]
pub(super) struct ByStream<T> {
    places: BTreeMap<u64, u32>,
    chunks: Vec<Vec<T>>,
}

impl<T> ByStream<T> {
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn get(&self, stream: u64) -> Option<&T> {
        self.at(*self.places.get(&stream)?)
    }

    /// The value of a stream; if it has none, inserts the result of `absent`.
    pub(super) fn entry(&mut self, stream: u64, absent: impl FnOnce() -> T) -> &mut T {
        let end = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
        let place = *self.places.entry(stream).or_insert(end) as usize;
        let (chunk, place) = (place / CHUNK, place % CHUNK);
        if chunk == self.chunks.len() {
            self.chunks.push(Vec::new());
        }
        let chunk = &mut self.chunks[chunk];
        if place == chunk.len() {
            chunk.push(absent());
        }
        &mut chunk[place]
    }

    /// By stream.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.places.iter().filter_map(|(&stream, &place)| Some((stream, self.at(place)?)))
    }

    fn at(&self, place: u32) -> Option<&T> {
        let place = place as usize;
        self.chunks.get(place / CHUNK)?.get(place % CHUNK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_with_their_streams_over_many_chunks() {
        let mut by_stream = ByStream::default();
        for stream in (0..5000_u64).rev() {
            *by_stream.entry(stream, || 1) += stream;
            *by_stream.entry(stream, || 1) += 1;
        }
        assert_eq!(
            (by_stream.len(), by_stream.get(4711), by_stream.get(5000)),
            (5000, Some(&4713), None)
        );
        let all: Vec<(u64, u64)> = by_stream.iter().map(|(stream, it)| (stream, *it)).collect();
        assert_eq!(all, (0..5000).map(|stream| (stream, stream + 2)).collect::<Vec<_>>());
    }
}
