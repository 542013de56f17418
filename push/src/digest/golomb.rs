//! Golomb-coded sets: sorted numbers by their gaps, each a unary quotient (zeros, then a one) and a binary remainder.

/// Writes bits, the first one highest.
#[derive(Debug, Default)]
pub(crate) struct BitWriter {
    bytes: Vec<u8>,
    free_bits: u32,
}

impl BitWriter {
    pub(crate) fn bits(&mut self, value: u64, count: u32) {
        for position in (0..count).rev() {
            self.bit(value >> position & 1 == 1);
        }
    }

    /// The last byte filled up with zeros.
    pub(crate) fn finish(self) -> Vec<u8> {
        self.bytes
    }

    fn bit(&mut self, bit: bool) {
        if self.free_bits == 0 {
            self.bytes.push(0);
            self.free_bits = 8;
        }
        self.free_bits -= 1;
        if let Some(last) = self.bytes.last_mut() {
            *last |= u8::from(bit) << self.free_bits;
        }
    }
}

/// Reads bits, the highest first.
#[derive(Debug)]
pub(crate) struct BitReader<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> BitReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    /// A number of `count` bits, at most 64; `None` if they are missing.
    pub(crate) fn bits(&mut self, count: u32) -> Option<u64> {
        (0..count).try_fold(0, |value, _| Some(value << 1 | u64::from(self.bit()?)))
    }

    fn bit(&mut self) -> Option<bool> {
        let byte = self.bytes.get(self.position / 8)?;
        let bit = byte >> (7 - self.position % 8) & 1 == 1;
        self.position += 1;
        Some(bit)
    }
}

/// Writes `sorted`, rising numbers without repetition.
pub(crate) fn encode(
    writer: &mut BitWriter,
    sorted: impl IntoIterator<Item = u64>,
    remainder_bits: u32,
) {
    let mut least = 0;
    for number in sorted {
        let gap = number - least;
        for _ in 0..gap >> remainder_bits {
            writer.bit(false);
        }
        writer.bit(true);
        writer.bits(gap, remainder_bits);
        least = number + 1;
    }
}

/// Reads ascending numbers to the end of the bits. A number above `limit` ends it.
pub(crate) fn decode(reader: &mut BitReader<'_>, remainder_bits: u32, limit: u64) -> Vec<u64> {
    let mut numbers = Vec::new();
    let mut least = 0;
    while let Some(gap) = decode_gap(reader, remainder_bits) {
        let number = least + gap;
        if number >= limit {
            break;
        }
        numbers.push(number);
        least = number + 1;
    }
    numbers
}

fn decode_gap(reader: &mut BitReader<'_>, remainder_bits: u32) -> Option<u64> {
    let mut quotient = 0;
    while !reader.bit()? {
        quotient += 1;
    }
    Some((quotient << remainder_bits) + reader.bits(remainder_bits)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn coded(sorted: &[u64], remainder_bits: u32) -> Vec<u8> {
        let mut writer = BitWriter::default();
        encode(&mut writer, sorted.iter().copied(), remainder_bits);
        writer.finish()
    }

    #[test]
    fn gaps_are_zeros_a_one_and_a_remainder() {
        // 5 = 1 * 4 + 1: 0 1 01; gap to 7 is 1: 1 01.
        assert_eq!(coded(&[5, 7], 2), [0b0101_1010]);
    }

    #[test]
    fn padding_is_not_a_number() {
        assert_eq!(decode(&mut BitReader::new(&[0b0101_1010]), 2, 100), [5, 7]);
    }

    proptest::proptest! {
        #[test]
        fn what_was_written_is_read(numbers: BTreeSet<u16>, remainder_bits in 0_u32..12) {
            let sorted: Vec<u64> = numbers.into_iter().map(u64::from).collect();
            let bytes = coded(&sorted, remainder_bits);
            let read = decode(&mut BitReader::new(&bytes), remainder_bits, 1 << 16);
            proptest::prop_assert_eq!(read, sorted);
        }

        #[test]
        fn any_bytes_are_read_to_rising_numbers_below_the_limit(bytes: Vec<u8>, remainder_bits in 0_u32..12) {
            let read = decode(&mut BitReader::new(&bytes), remainder_bits, 1000);
            proptest::prop_assert!(read.is_sorted_by(|a, b| a < b) && read.iter().all(|it| *it < 1000));
        }
    }
}
