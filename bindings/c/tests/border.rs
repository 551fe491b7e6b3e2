//! The border of the library: every wrong call gives an error code and a message.

use std::ffi::{CStr, CString};
use std::ptr::null;

use atoms::*;

fn create(config: &str) -> *mut AtomsScoreboard {
    let config = CString::new(config).expect("a name");
    // SAFETY: a string that ends with 0.
    unsafe { atoms_scoreboard_new(ATOMS_ABI_VERSION, config.as_ptr(), 0) }
}

fn message(handle: *const AtomsScoreboard) -> String {
    // SAFETY: the function returns a string that ends with 0.
    unsafe { CStr::from_ptr(atoms_error(handle.cast())) }.to_str().expect("UTF-8").to_owned()
}

fn op(name: &str) -> u32 {
    let name = CString::new(name).expect("a name");
    // SAFETY: a string that ends with 0.
    unsafe { atoms_op_code(name.as_ptr()) as u32 }
}

fn size(name: &str) -> u32 {
    let name = CString::new(name).expect("a name");
    // SAFETY: a string that ends with 0.
    unsafe { atoms_size_code(name.as_ptr()) as u32 }
}

/// Reports an ADD of lanes 0 and 1 at byte 0x40 and its response with these results.
fn add(handle: *mut AtomsScoreboard, results: [u32; 2]) -> i32 {
    let (mut ra, mut b, mut rd) = ([0_u32; 32], [0_u32; 128], [0_u32; 128]);
    ra[..2].fill(0x40);
    (b[0], b[4], rd[0], rd[4]) = (5, 7, results[0], results[1]);
    assert_eq!(atoms_cta_write(handle, 1, 0, 1, 0, 1024, 0), ATOMS_OK);
    assert_eq!(atoms_cta_result(handle, 2, 0, 0), ATOMS_OK);
    // SAFETY: arrays of the required sizes.
    unsafe {
        let (add, u32_) = (op("ADD"), size("u32"));
        let (ra, b, c) = (ra.as_ptr(), b.as_ptr(), [0; 128].as_ptr());
        assert_eq!(atoms_warp_request(handle, 3, 9, add, u32_, 0, 0, 0, 0, 3, 0, 0, ra, b, c), ATOMS_OK);
        atoms_warp_response(handle, 8, 9, rd.as_ptr(), 0, 0, 0, 0, 2, 0)
    }
}

#[test]
fn a_right_answer_is_accepted_and_a_wrong_one_has_its_clause_and_values() {
    let handle = create("default");
    assert_eq!(add(handle, [0, 5]), ATOMS_OK, "{}", message(handle));
    assert_eq!(atoms_final_word(handle, 16, 12), ATOMS_OK);
    assert_eq!(atoms_finish(handle, 20), ATOMS_OK, "{}", message(handle));
    assert_eq!(atoms_judged(handle), 1);
    assert_eq!(atoms_scoreboard_free(handle), ATOMS_OK);

    let handle = create("default");
    assert_eq!(add(handle, [0, 6]), ATOMS_REJECTED);
    assert_eq!(
        message(handle),
        "cycle 8: warp request 0, tag 9: lane 1 got 0x6 from 0x40, which never held it: it held 0x0 before the request and \
         no lane left 0x6 (spec 4.5)"
    );
    let mut verdict = std::mem::MaybeUninit::uninit();
    // SAFETY: the call writes a whole verdict.
    let verdict = unsafe {
        assert_eq!(atoms_verdict(handle, verdict.as_mut_ptr()), ATOMS_OK);
        verdict.assume_init()
    };
    let clause = verdict.clause.map(|byte| byte as u8);
    assert!(clause.starts_with(b"spec 4.5\0"), "{clause:?}");
    assert_eq!((verdict.port, verdict.tag, verdict.lanes, verdict.address), (0, 9, 2, 0x40));
    assert_eq!((verdict.has_got, verdict.got[0], verdict.has_expected), (1, 6, 0));
    // The word that the rejected request wrote is unknown from now on; the others are judged.
    assert_eq!(atoms_final_word(handle, 16, 99), ATOMS_OK);
    assert_eq!(atoms_final_word(handle, 17, 1), ATOMS_OK);
    assert_eq!(atoms_finish(handle, 20), ATOMS_REJECTED);
    assert!(message(handle).contains("word 17 (byte 0x44) holds 0x1"), "{}", message(handle));
    assert_eq!(atoms_cta_write(handle, 7, 1, 0, 0, 0, 0), ATOMS_UNDECIDED, "an event of an earlier cycle");
    assert!(message(handle).contains("keep the order"), "{}", message(handle));
    assert_eq!(atoms_scoreboard_free(handle), ATOMS_OK);
}

#[test]
fn every_wrong_call_has_a_code_and_a_message() {
    // SAFETY: a null pointer is permitted.
    assert!(unsafe { atoms_scoreboard_new(ATOMS_ABI_VERSION, null(), 0) }.is_null());
    assert_eq!(message(null()), "`config` is null");
    assert!(create("nothing").is_null());
    assert!(message(null()).starts_with("no configuration `nothing`; there are "), "{}", message(null()));
    // SAFETY: a string that ends with 0.
    assert!(unsafe { atoms_scoreboard_new(7, c"default".as_ptr(), 0) }.is_null());
    assert!(
        message(null()).contains("version 7 of atoms.h, the library has version 1"),
        "{}",
        message(null())
    );

    let handle = create("small,num_banks=8");
    // SAFETY: null pointers are permitted.
    unsafe {
        let refused = atoms_warp_request(handle, 1, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0, null(), null(), null());
        assert_eq!((refused, message(handle).as_str()), (ATOMS_BAD_ARGUMENT, "`ra` is null"));
        assert_eq!(atoms_verdict(handle, std::ptr::null_mut()), ATOMS_BAD_ARGUMENT);
        assert_eq!(atoms_record(handle, c"/no/such/folder/trace".as_ptr()), ATOMS_IO);
    }
    assert_eq!(atoms_cta_write(handle, 1, 16, 1, 0, 64, 0), ATOMS_BAD_ARGUMENT);
    assert_eq!(message(handle), "`slot` is 16; expected 0 to 15");
    assert_eq!(atoms_set_word(handle, 1, u32::MAX, 0), ATOMS_BAD_ARGUMENT);
    assert_eq!(atoms_word_index(handle, 0, 99), i64::from(ATOMS_BAD_ARGUMENT));
    // SAFETY: an array of the required size.
    let stray = unsafe { atoms_warp_response(handle, 2, 3, [0; 128].as_ptr(), 0, 0, 0, 0, -1, 0) };
    assert_eq!(stray, ATOMS_REJECTED, "a response without a request");
    assert_eq!(
        message(handle),
        "cycle 2: no request of the warp port waits for the response with tag 3 (spec 4.6)"
    );

    assert_eq!(atoms_scoreboard_free(handle), ATOMS_OK);
    assert_eq!(atoms_finish(handle, 3), ATOMS_BAD_HANDLE, "freed");
    assert_eq!(atoms_scoreboard_free(handle), ATOMS_BAD_HANDLE, "freed twice");
    let other = create("default");
    assert_ne!(other, handle, "a freed handle never names another scoreboard");
    assert_eq!(atoms_finish(&raw const other as *mut _, 3), ATOMS_BAD_HANDLE, "some address");
    assert_eq!(atoms_finish(std::ptr::null_mut(), 3), ATOMS_BAD_HANDLE);
    assert!(message(null()).contains("names no scoreboard"));
    atoms_scoreboard_free(other);
}

#[test]
fn a_panic_inside_ends_at_the_border() {
    let handle = create("default");
    std::panic::set_hook(Box::new(|_| ()));
    assert_eq!(atoms_test_panic(handle), ATOMS_PANIC);
    _ = std::panic::take_hook();
    assert!(message(null()).contains("a bug in libatoms, please report it: as asked"));
    assert_eq!(atoms_finish(handle, 3), ATOMS_PANIC);
    assert_eq!(atoms_scoreboard_free(handle), ATOMS_OK);
}

#[test]
fn a_failed_free_leaves_its_message() {
    let handle = create("tiny");
    // SAFETY: a string that ends with 0.
    assert_eq!(unsafe { atoms_record(handle, c"/dev/full".as_ptr()) }, ATOMS_OK);
    assert_eq!(atoms_scoreboard_free(handle), ATOMS_IO);
    for asked in [null(), handle.cast_const()] {
        assert!(message(asked).contains("No space left"), "{}", message(asked));
    }
}

#[test]
fn words_written_belong_to_the_next_response() {
    // SAFETY: a string that ends with 0.
    let handle = unsafe { atoms_scoreboard_new(ATOMS_ABI_VERSION, c"tiny".as_ptr(), 1) };
    assert_eq!(atoms_cta_write(handle, 1, 0, 1, 0, 32, 0), ATOMS_OK);
    assert_eq!(atoms_written(handle, 8, 1), ATOMS_BAD_ARGUMENT);
    assert_eq!(message(handle), "`word` is 8; expected 0 to 7");
    let (zeros, mut b) = ([0_u32; 128], [0_u32; 128]);
    b[0] = 5;
    let (zeros, b) = (zeros.as_ptr(), b.as_ptr());
    for (cycle, word, observed, expected) in [(2, 7, 0, 0), (5, 0, 1, 5)] {
        // SAFETY: arrays of the required sizes.
        unsafe {
            let (add, u32_) = (op("ADD"), size("u32"));
            let b = if observed == 1 { b } else { zeros };
            assert_eq!(
                atoms_warp_request(handle, cycle, 1, add, u32_, 0, 0, 0, 0, 1, 0, 0, zeros, b, zeros),
                ATOMS_OK
            );
            assert_eq!(atoms_written(handle, word, expected), ATOMS_OK);
            let judged = atoms_warp_response(handle, cycle + 1, 1, zeros, 0, 0, 0, 0, 1, observed);
            assert_eq!(
                judged,
                ATOMS_OK,
                "the words of the request before are none of this one: {}",
                message(handle)
            );
        }
    }
    assert_eq!(atoms_scoreboard_free(handle), ATOMS_OK);
}

/// Calls the library when its thread exits.
struct CallsAtExit;

impl Drop for CallsAtExit {
    fn drop(&mut self) {
        assert_eq!(atoms_finish(std::ptr::null_mut(), 1), ATOMS_BAD_HANDLE);
        assert!(!atoms_error(null()).is_null());
    }
}

#[test]
fn a_thread_may_call_while_it_exits() {
    thread_local!(static AT_EXIT: CallsAtExit = const { CallsAtExit });
    let exits = std::thread::spawn(|| {
        AT_EXIT.with(|_| ());
        assert_eq!(atoms_finish(std::ptr::null_mut(), 1), ATOMS_BAD_HANDLE);
    });
    exits.join().expect("no panic");
}

#[test]
fn two_threads_with_one_handle_get_busy_or_a_verdict() {
    let handle = create("default") as usize;
    let calls = move |thread: u32| {
        let handle = handle as *mut AtomsScoreboard;
        let statuses = (0..20_000).map(|call| match call % 3 {
            0 => atoms_set_word(handle, 1, thread, call),
            1 => atoms_final_word(handle, thread, call),
            _ => atoms_quiet(handle, 1, 1),
        });
        let busy = statuses.filter(|status| {
            assert!([ATOMS_OK, ATOMS_BUSY].contains(status), "{status}: {}", message(null()));
            assert!(
                *status == ATOMS_OK || message(null()).starts_with("another thread"),
                "{}",
                message(null())
            );
            *status == ATOMS_BUSY
        });
        busy.count()
    };
    let threads = [0, 1].map(|thread| std::thread::spawn(move || calls(thread)));
    let busy: usize = threads.into_iter().map(|thread| thread.join().expect("no panic")).sum();
    println!("{busy} calls found the handle busy");
    let freed = [(); 2].map(|()| {
        std::thread::spawn(move || {
            loop {
                match atoms_scoreboard_free(handle as *mut _) {
                    ATOMS_BUSY => (),
                    status => return (status, message(null())),
                }
            }
        })
    });
    let mut freed = freed.map(|thread| thread.join().expect("no panic"));
    freed.sort_by_key(|(status, _)| *status);
    assert_eq!((freed[0].0, freed[1].0), (ATOMS_BAD_HANDLE, ATOMS_OK), "one of two threads frees it");
    assert!(freed[0].1.contains("names no scoreboard"), "{freed:?}");
}

#[test]
fn threads_with_a_handle_each_do_not_meet() {
    let run = |wrong: u32| {
        for _ in 0..200 {
            let handle = create("default");
            let expected = if wrong == 0 { ATOMS_OK } else { ATOMS_REJECTED };
            assert_eq!(add(handle, [0, 5 + wrong]), expected, "{}", message(handle));
            assert_eq!(message(handle).contains(&format!("lane 1 got {:#x}", 5 + wrong)), wrong != 0);
            assert_eq!(atoms_scoreboard_free(handle), ATOMS_OK);
        }
    };
    let threads = [0, 1, 2].map(|wrong| std::thread::spawn(move || run(wrong)));
    threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
}
