//! All spellings of operations on mbarrier objects: the cross product of instruction, ordering, scope, state
//! space, operands and destination, legal or not, plus address bases and offsets.

/// State spaces, each with the address register.
const SPACES: [(&str, &str); 4] =
    [("", "%ga"), (".shared", "%a"), (".shared::cta", "%a"), (".shared::cluster", "%a")];

/// Orderings of arrivals. Waits replace `release` by `acquire`.
const ORDERS: [&str; 5] = ["", ".release.cta", ".release.cluster", ".relaxed.cta", ".relaxed.cluster"];

/// State spaces with addresses other than a plain register.
const ADDRESSES: [(&str, &str); 7] = [
    ("", "%ga+8"),
    (".shared", "%a+-8"),
    (".shared", "%a+8388608"),
    (".shared::cta", "%a+16777216"),
    ("", "%ga+8388604"),
    (".shared", "sm+16"),
    (".shared::cta", "sm+512"),
];

pub fn lines() -> Vec<String> {
    let mut lines = Vec::new();
    for (space, base) in SPACES {
        all_orders(&mut lines, space, base);
    }
    for (space, base) in ADDRESSES {
        one_order(&mut lines, space, base, "");
    }
    lines
}

fn all_orders(lines: &mut Vec<String>, space: &str, base: &str) {
    for order in ORDERS {
        one_order(lines, space, base, order);
    }
}

fn one_order(lines: &mut Vec<String>, space: &str, base: &str, order: &str) {
    let mut line = |text: String| lines.push(text);
    let acquire = order.replace("release", "acquire");
    if order.is_empty() {
        for count in ["%c", "2", "1048575", "0", "-1"] {
            line(format!("mbarrier.init{space}.b64 [{base}], {count};"));
        }
        line(format!("mbarrier.init.layout::v0{space}.b64 [{base}], 5;"));
        for layout in ["v0", "v1"] {
            line(format!("mbarrier.check_layout.layout::{layout}{space}.b64 %p1, [{base}];"));
        }
        line(format!("mbarrier.inval{space}.b64 [{base}];"));
        line(format!("cp.async.mbarrier.arrive{space}.b64 [{base}];"));
        line(format!("cp.async.mbarrier.arrive.noinc{space}.b64 [{base}];"));
    }
    for verb in ["arrive", "arrive_drop"] {
        for state in ["%st", "_"] {
            for count in ["", ", 1", ", 2", ", %c", ", 1048575"] {
                line(format!("mbarrier.{verb}{order}{space}.b64 {state}, [{base}]{count};"));
                line(format!("mbarrier.{verb}.noComplete{order}{space}.b64 {state}, [{base}]{count};"));
            }
            for transactions in ["0", "1", "128", "%c", "1048575"] {
                let text = format!("{state}, [{base}], {transactions}");
                line(format!("mbarrier.{verb}.expect_tx{order}{space}.b64 {text};"));
            }
        }
    }
    for verb in ["expect_tx", "complete_tx"] {
        for transactions in ["0", "1", "128", "16384", "32768", "%c", "1048575"] {
            line(format!("mbarrier.{verb}{order}{space}.b64 [{base}], {transactions};"));
        }
    }
    for (kind, phases) in [("", &["%s"] as &[&str]), (".parity", &["%par", "0", "1", "2"])] {
        for phase in phases {
            line(format!("mbarrier.test_wait{kind}{acquire}{space}.b64 %p1, [{base}], {phase};"));
            for hint in ["", ", %h", ", 0", ", 20", ", 1000000"] {
                line(format!("mbarrier.try_wait{kind}{acquire}{space}.b64 %p1, [{base}], {phase}{hint};"));
            }
            if phase != &"2" && (order.is_empty() || order == ".release.cluster") {
                types_of_phases(&mut line, kind, &format!("{acquire}{space}"), base, phase);
            }
        }
    }
}

/// Adds waits for a phase type, with and without reports of failures.
fn types_of_phases(line: &mut impl FnMut(String), kind: &str, modifiers: &str, base: &str, phase: &str) {
    for (verb, hint) in [("test_wait", ""), ("try_wait", ""), ("try_wait", ", 20")] {
        for results in ["%p1", "%p1|%p2", "%p1|_, %rep", "%p1|%p2, %rep"] {
            let name = format!("mbarrier.{verb}{kind}.phase_type::primary{modifiers}.b64");
            line(format!("{name} {results}, [{base}], {phase}{hint};"));
        }
        let name = format!("mbarrier.{verb}{kind}.phase_type::conditional{modifiers}.b64");
        line(format!("{name} %p1, [{base}], {phase}{hint};"));
    }
}
