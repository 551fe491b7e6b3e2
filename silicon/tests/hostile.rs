//! Captures from untrusted sources: any content is judged or refused, and nothing panics.

use std::fs::File;
use std::path::Path;

use atoms_silicon::capture::{Capture, CaptureEntry, write_entry};
use atoms_silicon::{observe, report, times};
use fastrand::Rng;
use serde_json::Value;

/// Collects the JSON pointers of all numbers and texts in an entry.
fn places(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(n, v)| places(v, &format!("{path}/{n}"), found))
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, v)| places(v, &format!("{path}/{name}"), found))
        }
        Value::Number(_) | Value::String(_) => found.push(path.into()),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Changes one value of an entry: a number to another number, a text to a prefix, which may be empty.
fn change(rng: &mut Rng, entry: &mut Value) {
    let mut all = Vec::new();
    places(entry, "", &mut all);
    let Some(value) = rng.choice(&all).and_then(|path| entry.pointer_mut(path)) else { return };
    *value = match &*value {
        Value::Number(number) => {
            let number = number.as_u64().unwrap_or(1);
            let others = [0, 1, number.wrapping_add(1), number / 2, u64::from(u32::MAX), 1 << 40];
            others[rng.usize(..others.len())].into()
        }
        Value::String(text) => {
            let cut = text.char_indices().map(|(at, _)| at).nth(rng.usize(..text.len().max(1))).unwrap_or(0);
            text[..cut].into()
        }
        other => other.clone(),
    };
}

#[test]
fn whatever_stands_in_a_capture_nothing_panics() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("captures/standin/capture.jsonl.gz");
    let whole = Capture::read(File::open(path).unwrap()).unwrap();
    let mut rng = Rng::with_seed(11);
    let (mut refused, mut judged) = (0, 0);
    for _ in 0..300 {
        let record = rng.choice(&whole.records).unwrap().clone();
        let mut entry = serde_json::to_value(CaptureEntry::Record(Box::new(record))).unwrap();
        (0..rng.u32(1..3)).for_each(|_| change(&mut rng, &mut entry));
        let mut file = Vec::new();
        write_entry(&mut file, &CaptureEntry::Header(whole.header.clone())).unwrap();
        let text = serde_json::to_string(&entry).unwrap();
        file.extend(
            format!("{{\"crc\":\"{:08x}\",\"entry\":{text}}}\n", crc32fast::hash(text.as_bytes())).bytes(),
        );
        match Capture::read(&file[..]) {
            Err(error) => {
                refused += 1;
                assert!(error.to_string().starts_with("line 2: "), "{error}");
            }
            Ok(capture) => {
                judged += 1;
                let report = report::judge(&capture);
                times::fits(&report.timings);
                for record in &capture.records {
                    let outputs: Vec<_> =
                        record.outputs().unwrap_or_default().iter().map(|o| o.to_vec()).collect();
                    let _ = observe::write_trace(std::io::sink(), &record.program, &outputs);
                }
            }
        }
    }
    assert!(refused > 50 && judged > 50, "{refused} refused, {judged} judged");
}
