//! Model and stimulus over C.

use std::ffi::{CStr, CString, c_void};
use std::ptr::{null, null_mut};

use atoms::*;
use atoms_model::Unit;
use atoms_model::memory_port::word_index;
use atoms_model::port::{In, Out};
use atoms_stimulus::configs::embedded;
use atoms_stimulus::{Profile, RandomStimulus, Stimulus, complete_handshakes};

fn message<H>(handle: *const H) -> String {
    // SAFETY: the function returns a string that ends with 0.
    unsafe { CStr::from_ptr(atoms_error(handle.cast())) }.to_str().expect("UTF-8").to_owned()
}

fn model(config: &str) -> *mut AtomsModel {
    let config = CString::new(config).expect("a name");
    // SAFETY: a string that ends with 0.
    unsafe { atoms_model_new(ATOMS_ABI_VERSION, config.as_ptr()) }
}

fn stimulus(config: &str, profile: &str, seed: u64, requests: u64) -> *mut AtomsStimulus {
    let [config, profile] = [config, profile].map(|text| CString::new(text).expect("a text"));
    // SAFETY: strings that end with 0.
    unsafe { atoms_stimulus_new(ATOMS_ABI_VERSION, config.as_ptr(), profile.as_ptr(), seed, requests) }
}

#[test]
fn model_and_stimulus_equal_those_of_rust() {
    for (config, profile) in
        [("default", "default"), ("small", "resets"), ("hashed", "objects"), ("tiny", "red = 1.0")]
    {
        let named = embedded(config).expect("a configuration").config;
        let of = if profile.contains('=') {
            Profile::from_toml(profile).ok()
        } else {
            Profile::named(profile).ok()
        };
        let mut expected = RandomStimulus::new(named, &of.expect("a profile"), 3, 600);
        let mut unit = Unit::new(named);
        let (model, stimulus) = (model(config), stimulus(config, profile, 3, 600));
        let (mut i, mut after, mut cycles) = (In::default(), 0, 0);
        let (mut pins, mut found) = (In::default(), Out::default());
        while after < 300 {
            expected.drive(&mut i);
            let out = *unit.evaluate(&i);
            unit.tick(&i);
            // SAFETY: pointers to pins.
            unsafe {
                assert_eq!(atoms_stimulus_step(stimulus, &raw const found, &raw mut pins), ATOMS_OK);
                assert_eq!(pins, i, "{config}, {profile}, cycle {cycles}");
                assert_eq!(atoms_model_evaluate(model, &raw const pins, &raw mut found), ATOMS_OK);
                assert_eq!(found, out, "{config}, {profile}, cycle {cycles}");
                assert_eq!(atoms_model_step(model, &raw const pins, &raw mut found), ATOMS_OK);
                assert_eq!(found, out, "{config}, {profile}, cycle {cycles}");
            }
            expected.observe(&i, &out);
            complete_handshakes(&mut i, &out);
            assert_eq!(atoms_stimulus_finished(stimulus), i32::from(expected.finished()));
            after += i32::from(expected.finished());
            cycles += 1;
        }
        assert!(cycles > 1500, "{config}, {profile}: {cycles}");
        for word in 0..unit.memory().len() as u32 {
            let place = word_index(&named, word / named.num_banks, word % named.num_banks);
            assert_eq!(
                atoms_model_word(model, word),
                i64::from(unit.memory()[place]),
                "{config}, word {word}"
            );
        }
        assert_eq!((atoms_model_free(model), atoms_stimulus_free(stimulus)), (ATOMS_OK, ATOMS_OK));
    }
}

#[test]
fn a_word_that_is_set_is_read_at_its_address() {
    let model = model("hashed");
    let config = embedded("hashed").expect("a configuration").config;
    let word = config.num_banks + 1; // row 1: its banks are hashed
    assert_eq!(atoms_model_set_word(model, word, 77), ATOMS_OK);
    let mut pins = In { rst_n: 1, rsp_ready: 1, cta_valid: 1, cta_enable: 1, ..In::default() };
    pins.cta_size = 4 * config.row_bytes();
    let mut out = Out::default();
    let load = c"LDS";
    // SAFETY: a string that ends with 0, and pointers to pins.
    unsafe {
        assert_eq!(atoms_model_step(model, &raw const pins, &raw mut out), ATOMS_OK);
        (pins.cta_valid, pins.req_valid, pins.req_mask, pins.req_ra[0]) = (0, 1, 1, 4 * word);
        (pins.req_op, pins.req_size) =
            (atoms_op_code(load.as_ptr()) as u8, atoms_size_code(c"u32".as_ptr()) as u8);
        for _ in 0..20 {
            assert_eq!(atoms_model_step(model, &raw const pins, &raw mut out), ATOMS_OK);
            pins.req_valid &= 1 - out.req_ready;
            if out.rsp_valid == 1 {
                break;
            }
        }
    }
    assert_eq!((out.rsp_valid, out.rsp_fault, out.rsp_rd[0]), (1, 0, 77));
    atoms_model_free(model);
}

#[test]
fn every_wrong_call_has_a_code_and_a_message() {
    assert!(model("nothing").is_null());
    assert!(message(null::<c_void>()).starts_with("no configuration `nothing`"));
    assert!(stimulus("default", "nothing", 1, 1).is_null());
    assert!(message(null::<c_void>()).starts_with("no profile `nothing`"));
    assert!(stimulus("default", "no_knob = 1", 1, 1).is_null());
    assert!(message(null::<c_void>()).contains("no_knob"), "{}", message(null::<c_void>()));
    // SAFETY: strings that end with 0, or null.
    unsafe {
        assert!(atoms_model_new(7, c"default".as_ptr()).is_null());
        assert!(message(null::<c_void>()).contains("version 7 of atoms.h"));
        assert!(atoms_stimulus_new(ATOMS_ABI_VERSION, c"default".as_ptr(), null(), 1, 1).is_null());
        assert_eq!(message(null::<c_void>()), "`profile` is null");
    }
    let (model, stimulus) = (model("small"), stimulus("default", "default", 1, 9));
    let (mut pins, mut out) = (In { rst_n: 1, ..In::default() }, Out::default());
    // SAFETY: pointers to pins, or null.
    unsafe {
        assert_eq!(atoms_model_step(model, null(), &raw mut out), ATOMS_BAD_ARGUMENT);
        assert_eq!(message(model), "`in` is null");
        assert_eq!(atoms_model_evaluate(model, &raw const pins, null_mut()), ATOMS_BAD_ARGUMENT);
        assert_eq!(message(model), "`out` is null");
        pins.req_tag = 64;
        assert_eq!(atoms_model_step(model, &raw const pins, &raw mut out), ATOMS_BAD_ARGUMENT);
        assert_eq!(message(model), "`req_tag` is 0x40; expected at most 0x3f in this configuration");
        (pins.req_tag, pins.req_ra[4]) = (0, 1);
        assert_eq!(atoms_model_step(model, &raw const pins, &raw mut out), ATOMS_BAD_ARGUMENT);
        assert_eq!(message(model), "`req_ra[4]` is 0x1; expected at most 0x0 in this configuration");
        assert_eq!(atoms_stimulus_step(stimulus, null(), &raw mut pins), ATOMS_OK, "the first step");
        assert_eq!(atoms_stimulus_step(stimulus, null(), &raw mut pins), ATOMS_BAD_ARGUMENT);
        assert_eq!(message(stimulus), "the outputs are missing; only the first step has none");
        out.req_ready = 2;
        assert_eq!(atoms_stimulus_step(stimulus, &raw const out, &raw mut pins), ATOMS_BAD_ARGUMENT);
        assert_eq!(message(stimulus), "`req_ready` is 0x2; expected at most 0x1 in this configuration");
        // A handle of another kind.
        assert_eq!(atoms_model_step(stimulus.cast(), &raw const pins, &raw mut out), ATOMS_BAD_HANDLE);
        for asked in [null(), stimulus.cast_const()] {
            assert!(message(asked).starts_with("the handle names no model: "), "{}", message(asked));
        }
    }
    assert_eq!(atoms_model_set_word(model, u32::MAX, 0), ATOMS_BAD_ARGUMENT);
    assert!(message(model).starts_with("`word` is 4294967295; expected 0 to "));
    assert_eq!(atoms_model_word(model, u32::MAX), i64::from(ATOMS_BAD_ARGUMENT));
    assert_eq!(
        atoms_scoreboard_free(model.cast()),
        ATOMS_BAD_HANDLE,
        "a handle of another kind is not freed"
    );
    assert_eq!(atoms_model_set_word(model, 0, 0), ATOMS_OK);
    assert_eq!((atoms_model_free(model), atoms_model_free(model)), (ATOMS_OK, ATOMS_BAD_HANDLE));
    assert_eq!(
        (atoms_stimulus_free(stimulus), atoms_stimulus_finished(stimulus)),
        (ATOMS_OK, ATOMS_BAD_HANDLE)
    );
}

/// A wrong unit may answer anything in any cycle.
#[test]
fn stimulus_survives_any_outputs() {
    for profile in Profile::NAMES {
        let stimulus = stimulus("small", profile, 5, 200);
        let (mut pins, mut out, mut state) = (In::default(), Out::default(), 1_u32);
        for cycle in 0..3000 {
            let mut draw = |below: u32| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 16) % below
            };
            (out.req_ready, out.cl_ready, out.cta_ready) = (draw(2) as u8, draw(2) as u8, draw(2) as u8);
            (out.rsp_valid, out.wake_valid, out.cl_rsp_valid) = (draw(2) as u8, draw(2) as u8, draw(2) as u8);
            (out.rsp_tag, out.wake_tag, out.cta_reject) = (draw(64) as u8, draw(64) as u8, draw(2) as u8);
            (out.rsp_pred, out.rsp_rd[0], out.rsp_fault) = (draw(16), u128::MAX << draw(128), draw(4) as u8);
            // SAFETY: pointers to pins.
            let status = unsafe { atoms_stimulus_step(stimulus, &raw const out, &raw mut pins) };
            assert_eq!(status, ATOMS_OK, "{profile}, cycle {cycle}: {}", message(stimulus));
        }
        atoms_stimulus_free(stimulus);
    }
}

#[test]
fn coverage_counts_over_c_as_in_rust() {
    let config = c"small";
    let named = embedded("small").expect("a configuration");
    let mut expected = atoms_pins::PinCoverage::new(&named);
    let (mut unit, mut i) = (Unit::new(named.config), In::default());
    let mut requests = RandomStimulus::new(named.config, &Profile::default(), 5, 500);
    // SAFETY: strings that end with 0, pointers to pins and numbers, or null.
    unsafe {
        let coverage = atoms_coverage_new(ATOMS_ABI_VERSION, config.as_ptr());
        while !requests.finished() {
            requests.drive(&mut i);
            let out = *unit.evaluate(&i);
            unit.tick(&i);
            expected.sample(&i, &out).expect("legal pins");
            assert_eq!(atoms_coverage_sample(coverage, &raw const i, &raw const out), ATOMS_OK);
            requests.observe(&i, &out);
            complete_handshakes(&mut i, &out);
        }
        for (group, name) in [(null(), None), (c"".as_ptr(), None), (c"compare".as_ptr(), Some("compare"))] {
            let (mut hit, mut bins) = (0, 0);
            assert_eq!(atoms_coverage_count(coverage, group, &raw mut hit, &raw mut bins), ATOMS_OK);
            let found = (hit as usize, bins as usize);
            assert_eq!(Ok(found), expected.count(name));
            assert!(0 < hit && hit < bins, "{name:?}: {found:?}");
        }
        let mut number = 0;
        let count = |group| atoms_coverage_count(coverage, group, null_mut(), null_mut());
        assert_eq!(count(c"compare".as_ptr()), ATOMS_BAD_ARGUMENT);
        assert_eq!(message(coverage), "`hit` is null");
        assert_eq!(count(c"nothing".as_ptr()), ATOMS_BAD_ARGUMENT);
        assert!(message(coverage).starts_with("no group is called `nothing`; there are operation, "));
        assert_eq!(atoms_coverage_sample(coverage, null(), null()), ATOMS_BAD_ARGUMENT);
        assert_eq!(atoms_coverage_write(coverage, c"/no/such/folder".as_ptr()), ATOMS_IO);
        assert_eq!(
            atoms_coverage_count(coverage.cast(), null(), &raw mut number, null_mut()),
            ATOMS_BAD_ARGUMENT
        );
        assert_eq!(atoms_coverage_free(coverage), ATOMS_OK);
        assert_eq!(atoms_coverage_free(coverage), ATOMS_BAD_HANDLE);
    }
}
