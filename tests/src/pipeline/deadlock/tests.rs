use super::*;

fn missing(phase: i64, completed: u32, pending: u32, tx: i32) -> String {
    let found = MbarObject { pending, tx, ..MbarObject::init(3) };
    Awaited::Phase { object: "full".into(), address: 8, phase, completed, found }.missing()
}

#[test]
fn what_is_missing_is_counted() {
    #[rustfmt::skip]
    let rows = [
        (1, 1, 1,         0,  "1 arrival missing"),
        (1, 1, 3,         0,  "3 arrivals missing"),
        (1, 1, 0,         1,  "1 byte missing"),
        (1, 1, 2,         64, "2 arrivals missing, 64 bytes missing"),
        (1, 1, 0,         -2, "2 bytes too many"),
        (1, 1, 0xf_ffff,  0,  "1 arrival too many"),
        (2, 1, 3,         0,  "1 phase before it missing, 3 arrivals missing"),
        (3, 1, 0,         0,  "2 phases before it missing"),
        (0, 1, 3,         0,  "it is complete, wake-up missing"),
        (1, 1, 0,         0,  "nothing missing"),
    ];
    for (phase, completed, pending, tx, said) in rows {
        assert_eq!(missing(phase, completed, pending, tx), said);
    }
    assert_eq!(Awaited::Answer(Op::Load).missing(), "answer missing");
}
