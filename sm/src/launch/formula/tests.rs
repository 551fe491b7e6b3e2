use super::{FormulaError, Names, elements};
use crate::launch::element::Element;
use crate::launch::param::{Param, ParamKind};
use proptest::prelude::*;

fn params() -> Vec<Param> {
    let buffer = |name: &str, element: Element, values: &[i128]| {
        let mut bytes = Vec::new();
        values.iter().for_each(|v| element.push(&mut bytes, element.from_int(*v)));
        Param { name: name.into(), kind: ParamKind::Buffer { element, bytes, expect: None } }
    };
    let scalar = |name: &str, element: Element, value: i128| {
        let bits = element.from_int(value);
        Param { name: name.into(), kind: ParamKind::Scalar { element, bits } }
    };
    vec![
        buffer("in", Element::U8, &[3, 1, 2, 1]),
        buffer("f", Element::F32, &[1, 2, 3, 4]),
        scalar("n", Element::S32, 4),
        scalar("minus", Element::S32, -5),
    ]
}

fn run(text: &str, element: Element, count: usize) -> Result<Vec<u64>, FormulaError> {
    elements(text, element, count, &Names { params: &params(), scalars: &[("grid.x", 7), ("threads", 64)] })
}

#[test]
fn formulas_give_what_they_say() {
    #[rustfmt::skip]
    let rows: &[(&str, [i128; 3])] = &[
        ("in[i] + 1", [4, 2, 3]),
        ("i * 2 + n", [4, 6, 8]),
        ("2 + 3 * 4 - 1", [13; 3]),
        ("(2 + 3) * 4 % 7", [6; 3]),
        ("10 - 4 - 3", [3; 3]),
        ("1 << 3 | 1 ^ 3 & 2", [11; 3]),
        ("1 + 1 == 2 && 3 > 2 || 1 / 0", [1; 3]),
        ("i == 1 ? 10 : i == 2 ? 20 : 30", [30, 10, 20]),
        ("-7 / 2", [-3; 3]),
        ("-7 % 2", [-1; 3]),
        ("minus >> 1", [-3; 3]),
        ("!n + ~0", [-1; 3]),
        ("u8(255 + i)", [255, 0, 1]),
        ("s32(0x80000000)", [-(1 << 31); 3]),
        ("u32(i * 2654435761 + 0x9_0000) >> 16", [9, 40512, 15479]),
        ("min(in[i], 2, n) + max(i, 1)", [3, 2, 4]),
        ("abs(minus) + popcount(0xff)", [13; 3]),
        ("popcount(u32(-1))", [32; 3]),
        ("sum(j in 0..n: in[j] == i ? 1 : 0)", [0, 2, 1]),
        ("count(j in 0..len(in): in[j] == i)", [0, 2, 1]),
        ("sum(j in 0..i: sum(k in j..i: k))", [0, 0, 2]),
        ("max(j in 0..n: in[j]) - min(j in 0..n: in[j])", [2; 3]),
        ("xor(j in 0..n: in[j])", [1; 3]),
        ("any(j in 0..n: in[j] == 3) + all(j in 0..n: in[j])", [2; 3]),
        ("sum(j in 5..0: 1 / 0)", [0; 3]),
        ("grid.x * threads", [448; 3]),
        ("s64(f[i] * 1.5 + 1e1)", [11, 13, 14]),
        ("f[i] / 2 < 1", [1, 0, 0]),
    ];
    for (text, expected) in rows {
        let expected = expected.map(|value| Element::S64.from_int(value));
        assert_eq!(run(text, Element::S64, 3).unwrap(), expected, "{text}");
    }
}

#[test]
fn results_are_stored_as_the_buffer_holds_them() {
    assert_eq!(run("255 + i", Element::U8, 3).unwrap(), [255, 0, 1]);
    assert_eq!(run("-1", Element::U16, 1).unwrap(), [0xffff]);
    assert_eq!(run("f[i] / 2", Element::F32, 1).unwrap(), [u64::from(0.5_f32.to_bits())]);
    assert_eq!(run("1 / 3.0", Element::F32, 1).unwrap(), [u64::from((1.0_f32 / 3.0).to_bits())]);
    assert_eq!(run("i", Element::F64, 2).unwrap()[1], 1.0_f64.to_bits());
}

#[test]
fn errors_name_the_place_and_what_would_work() {
    #[rustfmt::skip]
    let rows = [
        ("inn[i] + 1",            0..3,   "no buffer, scalar or variable `inn`",    "the nearest is `in`"),
        ("1 + grid.y",            4..10,  "no buffer, scalar or variable `grid.y`", "the nearest is `grid.x`"),
        ("in + 1",                3..4,   "expected `[`, found `+`",                "a buffer is read one element at a time: `name[index]`"),
        ("in[i + 1",              8..8,   "expected `]`, found the end",            "the index is not closed"),
        ("summ(j in 0..n: 1)",    0..4,   "no function `summ`",                     "the nearest is `sum`"),
        ("1 +",                   3..3,   "expected a value, found the end",        "a value is a number, a name, `name[index]`, a call or a formula in brackets"),
        ("1 2",                   2..3,   "`2` after the end of the formula",       "an operator is missing, or a bracket"),
        ("1 $ 2",                 2..3,   "unexpected character `$`",                "a formula has names, numbers, brackets and the operators of C"),
        ("in[i + 2]",             0..9,   "element 2: index 4 is outside the buffer",          "the buffer has 4 elements, counted from 0"),
        ("1 / (i - 1)",           0..11,  "element 1: division by zero",            "guard it: `n == 0 ? 0 : x / n`"),
        ("f[i] & 1",              0..8,   "element 0: a bit operation on a float", "convert it: `u32(x)` rounds towards zero"),
        ("in[f[0]]",              3..7,   "element 0: 1 is not an integer",         "convert it: `s64(x)` rounds towards zero"),
        ("1 << 126 << 2",         0..13,  "element 0: the result has more than 127 bits",          "shorten the operands: `u32(x)` keeps the low 32 bits"),
        ("abs(1, 2)",             0..9,   "`abs` with 2 arguments",                      "it takes one argument"),
        ("12ab",                  0..4,   "`12ab` is not a number",                 "write 12, 0x1f, 1.5 or 1e-3; integers have at most 127 bits"),
        ("max(j in 0..0: 1)",     0..17,  "element 0: the minimum or maximum of no values", "the range is empty"),
        ("len(n)",                4..5,   "`len` of `n`, which is not a buffer",       "write `len(name)` with the name of a buffer"),
    ];
    for (text, range, message, help) in rows {
        let error = run(text, Element::S64, 3).expect_err(text);
        assert_eq!(
            (error.range, error.message.as_str(), error.help.as_str()),
            (range, message, help),
            "{text}"
        );
    }
}

#[test]
fn work_and_depth_have_an_end() {
    let long = run("sum(j in 0..1000000: sum(k in 0..1000000: 1))", Element::S64, 1).unwrap_err();
    assert!(long.message.contains("the formula needs more than 100000000 steps"), "{}", long.message);
    for deep in ["(".repeat(100_000), "-".repeat(100_000), "1?".repeat(100_000)] {
        assert!(run(&deep, Element::S64, 1).unwrap_err().message.contains("levels"));
    }
}

proptest! {
    /// Any text gives a formula or an error with a range in the text, but never a panic.
    #[test]
    fn any_text_is_read(text in "[in0-9jf+*/%&|^~!<>?:()\\[\\],. usmc=-]{0,40}|\\PC{0,20}") {
        if let Err(error) = run(&text, Element::U32, 2) {
            prop_assert!(error.range.end <= text.len() + 1, "{:?} in {:?}", error.range, text);
        }
    }

    /// Values agree with 64-bit arithmetic of the host, if that does not overflow.
    #[test]
    fn integers_agree_with_the_host(a in -1000_i64..1000, b in -1000_i64..1000, c in 1_i64..20) {
        let text = format!("({a}) * ({b}) + ({a}) % {c} - (({b}) >> 2) / {c} ^ ({a} & {b})");
        let host = (a * b + a % c - (b >> 2) / c) ^ (a & b);
        prop_assert_eq!(run(&text, Element::S64, 1).unwrap()[0], host as u64);
    }
}
