use rustc_apfloat::{Float, FloatConvert, Round, ieee};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    U8,
    S8,
    U16,
    S16,
    U32,
    S32,
    U64,
    S64,
    F16,
    Bf16,
    F32,
    F64,
}

impl Element {
    /// All types in order of declaration, with name in a launch file and size in bytes.
    pub const ALL: [(Element, &'static str, usize); 12] = [
        (Element::U8, "u8", 1),
        (Element::S8, "s8", 1),
        (Element::U16, "u16", 2),
        (Element::S16, "s16", 2),
        (Element::U32, "u32", 4),
        (Element::S32, "s32", 4),
        (Element::U64, "u64", 8),
        (Element::S64, "s64", 8),
        (Element::F16, "f16", 2),
        (Element::Bf16, "bf16", 2),
        (Element::F32, "f32", 4),
        (Element::F64, "f64", 8),
    ];

    pub const fn name(self) -> &'static str {
        Element::ALL[self as usize].1
    }

    pub fn from_name(name: &str) -> Option<Element> {
        Element::ALL.into_iter().find(|(_, known, _)| *known == name).map(|(element, ..)| element)
    }

    pub const fn bytes(self) -> usize {
        Element::ALL[self as usize].2
    }

    pub const fn float(self) -> bool {
        matches!(self, Element::F16 | Element::Bf16 | Element::F32 | Element::F64)
    }

    const fn signed(self) -> bool {
        matches!(self, Element::S8 | Element::S16 | Element::S32 | Element::S64)
    }

    /// Smallest and largest integer. For floats: the range in which all integers are exact.
    pub fn range(self) -> (i128, i128) {
        let bits = 8 * self.bytes() as u32;
        match self {
            Element::F16 => (-(1 << 11), 1 << 11),
            Element::Bf16 => (-(1 << 8), 1 << 8),
            Element::F32 => (-(1 << 24), 1 << 24),
            Element::F64 => (-(1 << 53), 1 << 53),
            _ if self.signed() => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            _ => (0, (1 << bits) - 1),
        }
    }

    /// Converts an integer to bits. Integer types wrap; floats round to nearest even.
    pub fn from_int(self, value: i128) -> u64 {
        match self {
            Element::F16 | Element::Bf16 | Element::F32 | Element::F64 => self.from_float(value as f64),
            _ => value as u64 & self.mask(),
        }
    }

    /// Converts a float to bits. Floats round to nearest even; integer types truncate towards zero.
    pub fn from_float(self, value: f64) -> u64 {
        match self {
            Element::F16 => narrow::<ieee::Half>(value),
            Element::Bf16 => narrow::<ieee::BFloat>(value),
            Element::F32 => u64::from((value as f32).to_bits()),
            Element::F64 => value.to_bits(),
            _ => value as i128 as u64 & self.mask(),
        }
    }

    /// Returns the integer value of the bits. `None` for floats.
    pub fn to_int(self, bits: u64) -> Option<i128> {
        if self.float() {
            return None;
        }
        let shift = 128 - 8 * self.bytes() as u32;
        let wide = i128::from(bits) << shift;
        Some(if self.signed() { wide >> shift } else { ((wide as u128) >> shift) as i128 })
    }

    pub fn to_float(self, bits: u64) -> f64 {
        match self {
            Element::F16 => widen::<ieee::Half>(bits),
            Element::Bf16 => widen::<ieee::BFloat>(bits),
            Element::F32 => f64::from(f32::from_bits(bits as u32)),
            Element::F64 => f64::from_bits(bits),
            _ => self.to_int(bits).unwrap_or(0) as f64,
        }
    }

    pub fn show(self, bits: u64) -> String {
        match self.to_int(bits) {
            Some(value) => value.to_string(),
            None => format!("{} ({:#x})", self.to_float(bits), bits),
        }
    }

    pub fn read(self, bytes: &[u8], index: usize) -> u64 {
        let at = index * self.bytes();
        bytes[at..at + self.bytes()].iter().rev().fold(0, |acc, b| acc << 8 | u64::from(*b))
    }

    /// Orders two elements by value. Equal values and NaNs are ordered by their bits.
    pub fn compare(self, a: u64, b: u64) -> std::cmp::Ordering {
        let values = match (self.to_int(a), self.to_int(b)) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => self.to_float(a).total_cmp(&self.to_float(b)),
        };
        values.then(a.cmp(&b))
    }

    pub fn push(self, bytes: &mut Vec<u8>, bits: u64) {
        bytes.extend_from_slice(&bits.to_le_bytes()[..self.bytes()]);
    }

    /// Distance of two floats in units in the last place. `None` if either is a NaN.
    pub fn ulps(self, a: u64, b: u64) -> Option<u64> {
        let sign = 1_u64 << (8 * self.bytes() - 1);
        let order = |bits: u64| {
            let magnitude = (bits & (sign - 1)) as i128;
            if bits & sign != 0 { -magnitude } else { magnitude }
        };
        let nan = self.to_float(a).is_nan() || self.to_float(b).is_nan();
        (!nan).then(|| order(a).abs_diff(order(b)) as u64)
    }

    const fn mask(self) -> u64 {
        u64::MAX >> (64 - 8 * self.bytes() as u32)
    }
}

/// Rounds to a 16-bit float, to nearest even.
fn narrow<F: Float>(value: f64) -> u64
where
    ieee::Double: FloatConvert<F>,
{
    convert::<_, F>(ieee::Double::from_bits(u128::from(value.to_bits()))).to_bits() as u64
}

fn widen<F: Float + FloatConvert<ieee::Double>>(bits: u64) -> f64 {
    f64::from_bits(convert::<_, ieee::Double>(F::from_bits(u128::from(bits & 0xffff))).to_bits() as u64)
}

fn convert<A: FloatConvert<B>, B: Float>(value: A) -> B {
    value.convert_r(Round::NearestTiesToEven, &mut false).value
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows: value, bits, value of these bits. Ties round to even.
    #[test]
    fn floats_of_16_bits() {
        for (element, value, bits, back) in [
            (Element::Bf16, 1.0, 0x3f80, 1.0),
            (Element::Bf16, -2.5, 0xc020, -2.5),
            (Element::Bf16, 257.0, 0x4380, 256.0),
            (Element::Bf16, 259.0, 0x4382, 260.0),
            (Element::Bf16, 1e39, 0x7f80, f64::INFINITY),
            (Element::Bf16, 2f64.powi(-133), 0x0001, 2f64.powi(-133)),
            (Element::F16, 2049.0, 0x6800, 2048.0),
            (Element::F16, 1.0, 0x3c00, 1.0),
        ] {
            assert_eq!(element.from_float(value), bits, "{} {value}", element.name());
            assert_eq!(element.to_float(bits), back, "{} {bits:#x}", element.name());
        }
        let (low, high) = Element::Bf16.range();
        for whole in low..=high {
            assert_eq!(Element::Bf16.to_float(Element::Bf16.from_int(whole)), whole as f64);
        }
        assert_eq!(Element::Bf16.ulps(0x3f80, 0x3f82), Some(2));
        assert_eq!(Element::from_name("bf16"), Some(Element::Bf16));
    }
}
