//! Numbers in as few bytes as possible (LEB128): for the page's columns, and for frames in memory.

/// 0, -1, 1, -2, 2 become 0, 1, 2, 3, 4.
pub fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

pub(crate) fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

/// Writes one number.
pub fn put(out: &mut Vec<u8>, mut value: u64) {
    loop {
        let low = (value & 0x7f) as u8;
        value >>= 7;
        if value == 0 {
            out.push(low);
            return;
        }
        out.push(low | 0x80);
    }
}

/// Takes one number from the front; `None` at the end.
pub fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_numbers_of_either_sign_stay_small() {
        assert_eq!([0, -1, 1, -2, i64::MIN].map(zigzag), [0, 1, 2, 3, u64::MAX]);
        let mut bytes = Vec::new();
        for value in [0, 127, 128, 300] {
            put(&mut bytes, value);
        }
        assert_eq!(bytes, [0, 127, 128, 1, 172, 2]);
    }

    proptest! {
        #[test]
        fn what_was_put_is_taken(value in any::<u64>(), shift in 0u32..64) {
            let (mut bytes, value) = (Vec::new(), value >> shift);
            put(&mut bytes, value);
            put(&mut bytes, zigzag(value.cast_signed()));
            let mut rest = &bytes[..];
            prop_assert_eq!(take(&mut rest), Some(value));
            prop_assert_eq!(take(&mut rest).map(unzigzag), Some(value.cast_signed()));
            prop_assert_eq!(take(&mut rest), None);
        }
    }
}
