//! Functions of the scoreboard, and those that need no handle.
//!
//! Every call returns a status code. Values wider than 32 bits are arrays of 32-bit words, low word first, as
//! packed bit vectors of SystemVerilog are at DPI.

use std::collections::BTreeMap;
use std::ffi::{CString, c_char, c_void};

use atoms_ops::Fault;
use atoms_oracle::{Response, SerialRequest};
use atoms_scoreboard::{ClusterResponse, PortScoreboard, PortVerdict, WarpResponse, arguments};
use atoms_stimulus::request::{AllocationWrite, ClusterRequest};

use crate::border::{
    ATOMS_ABI_VERSION, ATOMS_BAD_ARGUMENT, ATOMS_IO, ATOMS_OK, AtomsVerdict, CallError, Handle, create, free,
    guarded, string, thread_message, with,
};
use crate::registry::find;

/// A scoreboard.
#[derive(Debug)]
pub struct AtomsScoreboard(());

/// State of a scoreboard.
pub(crate) struct Board {
    scoreboard: PortScoreboard,
    /// Words of the next response or executed request.
    written: Vec<(u32, u32)>,
    /// Words of the memory at the end.
    last_words: BTreeMap<u32, u32>,
    verdict: Option<Box<PortVerdict>>,
    /// Clause of the last rejection, for the caller.
    clause: CString,
}

impl Handle for AtomsScoreboard {
    type Object = Board;
    const NAME: &'static str = "scoreboard";

    fn note(board: &mut Board, rejection: &PortVerdict) {
        board.verdict = Some(Box::new(rejection.clone()));
    }
}

const LANES: usize = 32;
const WORDS: usize = 4;

/// Returns the version of this interface, `ATOMS_ABI_VERSION` of the header that fits.
#[unsafe(no_mangle)]
pub extern "C" fn atoms_abi_version() -> u32 {
    ATOMS_ABI_VERSION
}

/// Creates a scoreboard of the unit with memory of zeros and no allocations.
///
/// `abi_version` is `ATOMS_ABI_VERSION` of the caller's header. `config` names a configuration of rtl/configs.toml with
/// optional changes (`default`, `small,num_banks=8`), or of a file (`my_configs.toml:NAME`), or
/// declares another unit (`unit.toml`, docs/bring-your-own.md). `observed` is 1 if the
/// testbench reports each cluster request that executes, with `atoms_cluster_executed`, and the words that each request
/// writes, with `atoms_written`; otherwise 0.
///
/// Returns null if it fails; `atoms_error(NULL)` has the reason.
///
/// # Safety
/// `config` is null or a string that ends with 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atoms_scoreboard_new(
    abi_version: u32,
    config: *const c_char,
    observed: i32,
) -> *mut AtomsScoreboard {
    let make = |config| {
        let mut scoreboard = PortScoreboard::of(&config);
        if flag(observed, "observed")? {
            scoreboard.set_observed();
        }
        let (written, last_words, clause) = (Vec::new(), BTreeMap::new(), CString::default());
        Ok(Board { scoreboard, written, last_words, verdict: None, clause })
    };
    // SAFETY: the caller passes null or a string that ends with 0.
    unsafe { create(abi_version, config, make) }
}

/// Frees a scoreboard. Later calls with this handle return `ATOMS_BAD_HANDLE`.
#[unsafe(no_mangle)]
pub extern "C" fn atoms_scoreboard_free(handle: *mut AtomsScoreboard) -> i32 {
    free(handle, |board| {
        board.scoreboard.finish_recording().map_err(|error| CallError::new(ATOMS_IO, error.to_string()))
    })
}

/// Returns the message of the last call with this handle, of any kind, that did not return `ATOMS_OK`; with null or a
/// wrong handle, of the last such call of this thread. Valid until the next call with this handle.
#[unsafe(no_mangle)]
pub extern "C" fn atoms_error(handle: *const c_void) -> *const c_char {
    match find(handle).as_ref().and_then(|entry| Some(entry.try_lock().ok()?.message.as_ptr())) {
        Some(message) => message,
        None => thread_message(),
    }
}

/// Writes the last rejected event to `out`.
///
/// # Safety
/// `out` is null or points to an `AtomsVerdict`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atoms_verdict(handle: *const AtomsScoreboard, out: *mut AtomsVerdict) -> i32 {
    with(handle, |board| {
        if out.is_null() {
            return Err(CallError::null("out"));
        }
        // SAFETY: not null, and the caller passes memory of this size.
        unsafe { out.write(AtomsVerdict::of(board.verdict.as_deref())) };
        Ok(())
    })
}

/// Returns the clause of the last rejection, such as `spec 4.5`; empty without a rejection. Valid until the next
/// rejection.
#[unsafe(no_mangle)]
pub extern "C" fn atoms_rejected_clause(handle: *const AtomsScoreboard) -> *const c_char {
    let mut clause = c"".as_ptr();
    with(handle, |board| {
        let text = board.verdict.as_ref().map_or("", |verdict| verdict.rejection.clause());
        board.clause = CString::new(text).unwrap_or_default();
        clause = board.clause.as_ptr();
        Ok(())
    });
    clause
}

/// Returns the lanes of the last rejection, lane 0 in bit 0, as `atoms_verdict` does.
#[unsafe(no_mangle)]
pub extern "C" fn atoms_rejected_lanes(handle: *const AtomsScoreboard) -> u32 {
    let mut lanes = 0;
    with(handle, |board| {
        lanes = AtomsVerdict::of(board.verdict.as_deref()).lanes;
        Ok(())
    });
    lanes
}

/// Writes a trace of all later events to a file, for `atoms check`. Call it before the first event; the file is complete
/// after `atoms_scoreboard_free`.
///
/// # Safety
/// `path` is null or a string that ends with 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atoms_record(handle: *mut AtomsScoreboard, path: *const c_char) -> i32 {
    with(handle, |board| {
        // SAFETY: the caller passes null or a string that ends with 0.
        let path = unsafe { string(path, "path") }?;
        let file = std::fs::File::create(path);
        let recorded = file.and_then(|file| board.scoreboard.record(Box::new(std::io::BufWriter::new(file))));
        recorded
            .map_err(|error| CallError::new(ATOMS_IO, format!("cannot write the trace `{path}`: {error}")))
    })
}

/// Returns the code of an operation such as `ADD` or `CAST.SPIN`, or `ATOMS_BAD_ARGUMENT`.
///
/// # Safety
/// `name` is null or a string that ends with 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atoms_op_code(name: *const c_char) -> i32 {
    guarded(|| {
        // SAFETY: the caller passes null or a string that ends with 0.
        let name = unsafe { string(name, "name") }?;
        Ok(arguments::op_code(name).map_err(CallError::argument)?.into())
    })
}

/// Returns the code of a size such as `u32`, or `ATOMS_BAD_ARGUMENT`.
///
/// # Safety
/// `name` is null or a string that ends with 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atoms_size_code(name: *const c_char) -> i32 {
    guarded(|| {
        // SAFETY: the caller passes null or a string that ends with 0.
        let name = unsafe { string(name, "name") }?;
        Ok(arguments::size_code(name).map_err(CallError::argument)?.into())
    })
}

/// Returns the index of the word that `bank` holds in `row`: its physical byte address / 4.
#[unsafe(no_mangle)]
pub extern "C" fn atoms_word_index(handle: *const AtomsScoreboard, row: u32, bank: u32) -> i64 {
    let mut index = i64::from(ATOMS_BAD_ARGUMENT);
    let status = with(handle, |board| {
        let geometry = board.scoreboard.geometry();
        index = arguments::word_index(&geometry, row, bank).map_err(CallError::argument)?.into();
        Ok(())
    });
    if status == ATOMS_OK { index } else { status.into() }
}

/// Sets one word of memory from outside the unit, as a backdoor write does.
#[unsafe(no_mangle)]
pub extern "C" fn atoms_set_word(handle: *mut AtomsScoreboard, cycle: u64, word: u32, value: u32) -> i32 {
    with(handle, |board| {
        check_word(board, word)?;
        Ok(board.scoreboard.set_words(cycle, &[(word, value)])?)
    })
}

/// Reports an accepted write of the CTA table.
#[unsafe(no_mangle)]
pub extern "C" fn atoms_cta_write(
    handle: *mut AtomsScoreboard,
    cycle: u64,
    slot: u32,
    enable: i32,
    base_row: u32,
    size_bytes: u32,
    rank: u32,
) -> i32 {
    with(handle, |board| {
        let wide = |_| CallError::argument(arguments::range("base_row", base_row.into(), 0xffff));
        let write = AllocationWrite {
            slot: number(slot, "slot", 15)?,
            enable: flag(enable, "enable")?,
            base: u16::try_from(base_row).map_err(wide)?,
            size: size_bytes,
            rank: number(rank, "rank", 255)?,
        };
        Ok(board.scoreboard.table_write(cycle, &write)?)
    })
}

/// Reports if the unit refused the last write of a slot (`cta_reject_o`). Optional.
#[unsafe(no_mangle)]
pub extern "C" fn atoms_cta_result(handle: *mut AtomsScoreboard, cycle: u64, slot: u32, refused: i32) -> i32 {
    with(handle, |board| {
        Ok(board.scoreboard.table_result(cycle, number(slot, "slot", 15)?, flag(refused, "refused")?)?)
    })
}

/// Reports a request that the warp port accepted. `ra` has 32 words, one for each lane; `b` and `c` have 4 words for each
/// of 32 lanes. Elements of lanes that do not exist are ignored.
///
/// # Safety
/// `ra` is null or points to 32 words, `b` and `c` are null or point to 128 words each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atoms_warp_request(
    handle: *mut AtomsScoreboard,
    cycle: u64,
    tag: u32,
    op: u32,
    size: u32,
    red: i32,
    absolute: i32,
    scale: u32,
    slot: u32,
    mask: u32,
    imm: u32,
    ur: u32,
    ra: *const u32,
    b: *const u32,
    c: *const u32,
) -> i32 {
    with(handle, |board| {
        // SAFETY: the caller passes null or arrays of this size.
        let (ra, b, c) = unsafe { (lanes::<LANES>(ra, "ra")?, wide(b, "b")?, wide(c, "c")?) };
        let request = SerialRequest {
            op: number(op, "op", 31)?,
            size: number(size, "size", 15)?,
            red: flag(red, "red")?,
            cluster: false,
            slot: number(slot, "slot", 15)?,
            mask,
            absolute: flag(absolute, "absolute")?,
            scale: number(scale, "scale", 7)?,
            imm,
            ur,
            ra,
            b,
            c,
        };
        Ok(board.scoreboard.warp_request(cycle, number(tag, "tag", 255)?, request)?)
    })
}

/// Reports a request that the cluster port accepted. `b` and `c` have 4 words.
///
/// # Safety
/// `b` and `c` are null or point to 4 words.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atoms_cluster_request(
    handle: *mut AtomsScoreboard,
    cycle: u64,
    tag: u32,
    op: u32,
    size: u32,
    red: i32,
    slot: u32,
    addr: u32,
    b: *const u32,
    c: *const u32,
) -> i32 {
    with(handle, |board| {
        // SAFETY: the caller passes null or arrays of this size.
        let (b, c) = unsafe { (lanes::<WORDS>(b, "b")?, lanes::<WORDS>(c, "c")?) };
        let request = ClusterRequest {
            op: number(op, "op", 31)?,
            size: number(size, "size", 15)?,
            red: flag(red, "red")?,
            tag: number(tag, "tag", 255)?,
            slot: number(slot, "slot", 15)?,
            addr,
            b: value(b),
            c: value(c),
        };
        Ok(board.scoreboard.cluster_request(cycle, &request)?)
    })
}

/// Adds a word, with its final value, to those written by the request of the next `atoms_warp_response`,
/// `atoms_cluster_executed` or `atoms_reset`.
#[unsafe(no_mangle)]
pub extern "C" fn atoms_written(handle: *mut AtomsScoreboard, word: u32, value: u32) -> i32 {
    with(handle, |board| {
        check_word(board, word)?;
        board.written.retain(|(other, _)| *other != word);
        board.written.push((word, value));
        Ok(())
    })
}

/// Reports a response of the warp port, in the cycle in which it appears. `rd` has 4 words for each of 32 lanes. `passes`
/// is -1 if the unit does not state it. `observed` is 1 if the words of `atoms_written` are all that the request wrote.
///
/// # Safety
/// `rd` is null or points to 128 words.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atoms_warp_response(
    handle: *mut AtomsScoreboard,
    cycle: u64,
    tag: u32,
    rd: *const u32,
    pred: u32,
    fault: u32,
    fault_lane: u32,
    fault_addr: u32,
    passes: i32,
    observed: i32,
) -> i32 {
    with(handle, |board| {
        // SAFETY: the caller passes null or an array of this size.
        let rd = unsafe { wide(rd, "rd") }?;
        let (tag, fault_lane) = (number(tag, "tag", 255)?, number(fault_lane, "fault_lane", 31)?);
        let response = Response { rd, pred, fault: fault_of(fault)?, fault_lane, fault_addr };
        let observed = flag(observed, "observed")?;
        let written = Some(std::mem::take(&mut board.written)).filter(|_| observed);
        let found = WarpResponse { tag, response, passes: u32::try_from(passes).ok(), written };
        Ok(board.scoreboard.warp_response(cycle, found)?)
    })
}

/// Reports a response of the cluster port, in the cycle in which it appears. `rd` has 4 words.
///
/// # Safety
/// `rd` is null or points to 4 words.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atoms_cluster_response(
    handle: *mut AtomsScoreboard,
    cycle: u64,
    tag: u32,
    rd: *const u32,
    pred: u32,
    fault: u32,
    fault_addr: u32,
) -> i32 {
    with(handle, |board| {
        // SAFETY: the caller passes null or an array of this size.
        let rd = value(unsafe { lanes::<WORDS>(rd, "rd") }?);
        let (tag, fault) = (number(tag, "tag", 255)?, fault_of(fault)? as u8);
        let found = ClusterResponse { tag, rd, pred: pred & 1 == 1, fault, fault_addr };
        Ok(board.scoreboard.cluster_response(cycle, found)?)
    })
}

/// Reports that the oldest cluster request that has not executed executed in this cycle, and wrote the words of
/// `atoms_written`. Only for a scoreboard created with `observed` 1.
#[unsafe(no_mangle)]
pub extern "C" fn atoms_cluster_executed(handle: *mut AtomsScoreboard, cycle: u64) -> i32 {
    with(handle, |board| {
        let written = std::mem::take(&mut board.written);
        Ok(board.scoreboard.executed(cycle, &written)?)
    })
}

/// Reports that the unit suspended the MBAR.TRY_WAIT with this tag. Optional; then the exact end of the wait is judged.
#[unsafe(no_mangle)]
pub extern "C" fn atoms_suspended(handle: *mut AtomsScoreboard, cycle: u64, tag: u32) -> i32 {
    with(handle, |board| Ok(board.scoreboard.suspended(cycle, number(tag, "tag", 255)?)?))
}

/// Reports a wake-up, in the cycle in which it appears.
#[unsafe(no_mangle)]
pub extern "C" fn atoms_wake_up(handle: *mut AtomsScoreboard, cycle: u64, tag: u32, pred: u32) -> i32 {
    with(handle, |board| Ok(board.scoreboard.wake_up(cycle, number(tag, "tag", 255)?, pred)?))
}

/// Reports that in the cycles `from` to `to` no wake-up was offered and no answer was left untaken. Optional; then a wait
/// that should have ended is found before the end of the run.
#[unsafe(no_mangle)]
pub extern "C" fn atoms_quiet(handle: *mut AtomsScoreboard, from: u64, to: u64) -> i32 {
    with(handle, |board| match from <= to {
        true => Ok(board.scoreboard.quiet(from, to)?),
        false => Err(CallError::argument(format!("`from` is {from}, after `to`, which is {to}"))),
    })
}

/// Reports a reset. `observed` is 1 if the words of `atoms_written` are all that requests without an answer wrote. With 0,
/// the words that these requests may write are unknown until `atoms_set_word`.
#[unsafe(no_mangle)]
pub extern "C" fn atoms_reset(handle: *mut AtomsScoreboard, cycle: u64, observed: i32) -> i32 {
    with(handle, |board| {
        let observed = flag(observed, "observed")?;
        let written = std::mem::take(&mut board.written);
        Ok(board.scoreboard.reset(cycle, observed.then_some(&written))?)
    })
}

/// Adds a word of the memory at the end of the run, for `atoms_finish`.
#[unsafe(no_mangle)]
pub extern "C" fn atoms_final_word(handle: *mut AtomsScoreboard, word: u32, value: u32) -> i32 {
    with(handle, |board| {
        check_word(board, word)?;
        board.last_words.insert(word, value);
        Ok(())
    })
}

/// Judges the end of the run: requests without an answer, events not judged so far, and the words of `atoms_final_word`.
#[unsafe(no_mangle)]
pub extern "C" fn atoms_finish(handle: *mut AtomsScoreboard, cycle: u64) -> i32 {
    with(handle, |board| {
        let words: Vec<_> = std::mem::take(&mut board.last_words).into_iter().collect();
        Ok(board.scoreboard.finish(cycle, &words)?)
    })
}

/// Returns the number of requests judged so far, or a negative status.
#[unsafe(no_mangle)]
pub extern "C" fn atoms_judged(handle: *const AtomsScoreboard) -> i64 {
    let mut judged = 0;
    let status = with(handle, |board| {
        judged = i64::try_from(board.scoreboard.judged()).unwrap_or(i64::MAX);
        Ok(())
    });
    if status == ATOMS_OK { judged } else { status.into() }
}

/// Internal: panics inside the library, for a test of the border.
#[doc(hidden)]
#[unsafe(no_mangle)]
pub extern "C" fn atoms_test_panic(handle: *mut AtomsScoreboard) -> i32 {
    with(handle, |_| panic!("as asked"))
}

/// Copies an array of `N` words.
///
/// # Safety
/// `words` is null or points to `N` words.
unsafe fn lanes<const N: usize>(words: *const u32, name: &str) -> Result<[u32; N], CallError> {
    if words.is_null() {
        return Err(CallError::null(name));
    }
    // SAFETY: not null, and the caller passes an array of this size. It may be unaligned.
    Ok(unsafe { words.cast::<[u32; N]>().read_unaligned() })
}

/// Copies an array of 4 words for each lane. On a little-endian machine, 4 words, low word first, are a `u128`.
///
/// # Safety
/// `words` is null or points to 128 words.
unsafe fn wide(words: *const u32, name: &str) -> Result<[u128; LANES], CallError> {
    const { assert!(cfg!(target_endian = "little"), "this library needs a little-endian machine") };
    if words.is_null() {
        return Err(CallError::null(name));
    }
    // SAFETY: not null, and the caller passes an array of this size. It may be unaligned.
    Ok(unsafe { words.cast::<[u128; LANES]>().read_unaligned() })
}

fn value(words: [u32; WORDS]) -> u128 {
    words.iter().rev().fold(0, |value, word| value << 32 | u128::from(*word))
}

fn number(value: u32, name: &str, most: u8) -> Result<u8, CallError> {
    arguments::number(name, value.into(), most).map_err(CallError::argument)
}

fn flag(value: i32, name: &str) -> Result<bool, CallError> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(CallError::argument(format!("`{name}` is {value}; expected 0 or 1"))),
    }
}

fn fault_of(code: u32) -> Result<Fault, CallError> {
    arguments::fault(code.into()).map_err(CallError::argument)
}

fn check_word(board: &Board, word: u32) -> Result<(), CallError> {
    arguments::word(&board.scoreboard.geometry(), word).map_err(CallError::argument)
}
