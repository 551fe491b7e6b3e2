//! Iteration and printing of lane sets.

use std::fmt;

/// The lanes of a mask, ascending.
pub(crate) fn lanes_of(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        (rest != 0).then(|| {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            lane
        })
    })
}

/// A set of lanes, lane 0 in bit 0; prints as `lane 3` or `lanes 3, 7 and 9`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lanes(pub(crate) u32);

impl fmt::Display for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.0.count_ones();
        f.write_str(if count == 1 { "lane " } else { "lanes " })?;
        for (i, lane) in lanes_of(self.0).enumerate() {
            let before = match i as u32 {
                0 => "",
                i if i + 1 == count => " and ",
                _ => ", ",
            };
            write!(f, "{before}{lane}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_read_as_a_list() {
        assert_eq!(Lanes(1 << 3).to_string(), "lane 3");
        assert_eq!(Lanes(0x88).to_string(), "lanes 3 and 7");
        assert_eq!(Lanes(0x8000_0088).to_string(), "lanes 3, 7 and 31");
    }
}
