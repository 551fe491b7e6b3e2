//! Formats floating-point immediates as `nvdisasm` prints them.

/// Formats 20 significant digits without trailing zeros. From 10^9 on, there are 20 digits after the point
/// and an exponent.
pub(super) fn decimal(value: f64) -> String {
    let sign = if value.is_sign_negative() { "-" } else { "+" };
    if value.is_nan() {
        return format!("{sign}QNAN");
    }
    if value.is_infinite() {
        return format!("{sign}INF");
    }
    if value == 0.0 {
        return if value.is_sign_negative() { "-0.0".into() } else { "0".into() };
    }
    let long = value.abs() >= 1e9;
    let text = if long { format!("{value:.20e}") } else { format!("{value:.19e}") };
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    match (long, power) {
        (true, _) => format!("{digits}e+{power:02}"),
        (_, ..-4) => format!("{}e-{:02}", short(digits), -power),
        _ => short(&format!("{value:.*}", (19 - power).max(0) as usize)).into(),
    }
}

fn short(digits: &str) -> &str {
    match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => digits,
    }
}

pub(super) fn half(bits: u32) -> f64 {
    let (exponent, fraction) = ((bits >> 10 & 0x1f) as i32, f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * f64::powi(2.0, -24),
        _ => (fraction + 1024.0) * f64::powi(2.0, exponent - 25),
    };
    if bits & 0x8000 == 0 { magnitude } else { -magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_as_disassemblers_do() {
        for (bits, text) in [
            (0x0000, "0"),
            (0x0001, "5.9604644775390625e-08"),
            (0x0040, "3.814697265625e-06"),
            (0x0100, "1.52587890625e-05"),
            (0x1000, "0.00048828125"),
            (0x3ff0, "1.984375"),
            (0x4000, "2"),
            (0xc000, "-2"),
            (0x8000, "-0.0"),
            (0x0005, "2.98023223876953125e-07"),
            (0x7bff, "65504"),
        ] {
            assert_eq!(decimal(half(bits)), text, "{bits:#x}");
        }
        for (value, text) in [
            (f32::from_bits(0x4049_0fdb), "3.1415927410125732422"),
            (f32::from_bits(1), "1.4012984643248170709e-45"),
            (f32::from_bits(0x38d1_b717), "9.9999997473787516356e-05"),
            (-0.5, "-0.5"),
            (33554432.0, "33554432"),
            (1e9, "1.00000000000000000000e+09"),
            (f32::MAX, "3.40282346638528859812e+38"),
            (f32::NEG_INFINITY, "-INF"),
            (f32::NAN, "+QNAN"),
        ] {
            assert_eq!(decimal(value.into()), text);
        }
        assert_eq!(decimal(f64::from_bits(0x1_0000_0000)), "2.1219957909652723151e-314");
    }
}
