//! `atoms wave show --query`: cycles in which an expression holds.

use std::ops::ControlFlow;

use atoms_wave_view::{WaveFile, WaveQuery};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::wave::WaveShowArgs;
use crate::output::error::{CliError, Verdict, message};
use crate::output::{note, outln, print_json};
use crate::wave::{print_extent, whole_or};

#[derive(Serialize, JsonSchema)]
pub(crate) struct QueryResult<'q> {
    query: &'q str,
    /// Unit of the ranges: `cycle` or `time`.
    unit: &'static str,
    count: u64,
    /// First and last cycle (or time) of each range in which the expression is true.
    ranges: Vec<(u64, u64)>,
}

pub(super) fn search(file: &WaveFile, args: &WaveShowArgs, expression: &str) -> Result<Verdict, CliError> {
    let query = WaveQuery::new(file, expression).map_err(|error| message!("--query: {error}"))?;
    let clock = file.clock()?;
    let period = clock.as_ref().map_or(1, |clock| clock.period);
    let window = whole_or(file, args.window)?;
    let window = window.start.div_ceil(period)..window.end.div_ceil(period);
    let word = if clock.is_some() { "cycle" } else { "time" };
    let (mut found, mut failed, mut all) = (0_u64, None, Vec::new());
    let extent = query.cycles(clock.as_ref(), window, &mut |cycles| {
        found += cycles.end - cycles.start;
        if args.json {
            all.push((cycles.start, cycles.end - 1));
            return ControlFlow::Continue(());
        }
        let printed = match cycles.end - cycles.start {
            1 => outln!("{word} {}", cycles.start),
            _ => outln!("{word}s {} to {}", cycles.start, cycles.end - 1),
        };
        printed.map_or_else(
            |error| {
                failed = Some(error);
                ControlFlow::Break(())
            },
            ControlFlow::Continue,
        )
    })?;
    if let Some(error) = failed {
        return Err(error);
    }
    if args.json {
        print_json(&QueryResult { query: expression, unit: word, count: found, ranges: all })?;
    } else if found == 0 {
        note!("the expression is true in no {word}");
    }
    print_extent(file, &extent);
    Ok(Verdict::Agree)
}
