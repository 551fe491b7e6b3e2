//! Checks of a response that need no memory.

use std::fmt;

use atoms_ops::Op;

use crate::kernel::Gives;
use crate::lanes::{Lanes, lanes_of};
use crate::rejection::Rejection;
use crate::request::{Response, SerialRequest};

/// Mask of those `lanes` that have a result or a predicate in the response.
pub(crate) fn lanes_given_something(resp: &Response, lanes: u32) -> u32 {
    lanes_of(lanes).fold(resp.pred & lanes, |mask, lane| mask | u32::from(resp.rd[lane] != 0) << lane)
}

/// Rejects a write by a request that must not write; `why` says why not.
pub(crate) fn must_not_write(
    after: Option<&[(u32, u32)]>,
    clause: &'static str,
    why: fmt::Arguments<'_>,
) -> Result<(), Rejection> {
    let Some(&(word, _)) = after.and_then(<[_]>::first) else { return Ok(()) };
    let byte = u64::from(word) * 4;
    let what =
        format_args!("word {word} (byte {byte:#x}) was written, but this request writes nothing: {why}");
    Err(Rejection::new(clause, "write", what))
}

/// Checks that results and predicates exist only where the operation returns them, and that flags are 0 or 1.
pub(crate) fn check_what_is_given(
    op: Op,
    req: &SerialRequest,
    resp: &Response,
    lanes: u32,
) -> Result<(), Rejection> {
    let gives = Gives::of(op);
    let predicate = matches!(gives, Gives::OldAndStored | Gives::Stored | Gives::Complete);
    if !predicate && resp.pred & lanes != 0 {
        let wrong = resp.pred & lanes;
        let what =
            format_args!("{} got a predicate from an operation that returns no predicate", Lanes(wrong));
        return Err(Rejection::new("spec 3", "pred", what).at(wrong, None).values(1u8, 0));
    }
    let nothing = req.red || matches!(gives, Gives::Nothing | Gives::Complete);
    if !nothing && gives != Gives::Stored {
        return Ok(());
    }
    for lane in lanes_of(lanes) {
        let (got, pred) = (resp.rd[lane], (resp.pred >> lane & 1) as u8);
        if nothing && got != 0 {
            let what = format_args!("lane {lane} got {got:#x} from a request that gives no results");
            return Err(Rejection::new("spec 3", "rd", what).at(1 << lane, None).values(got, 0));
        }
        if !nothing && got != u128::from(pred) {
            let what = format_args!(
                "lane {lane} got {got:#x} in Rd but predicate {pred}; both must be 1 if the lane stored, else 0"
            );
            let wrong = Rejection::new("spec 3.2", "rd", what).at(1 << lane, None);
            return Err(wrong.values(got, u128::from(pred)));
        }
    }
    Ok(())
}
