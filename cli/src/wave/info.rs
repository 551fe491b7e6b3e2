//! `atoms wave info`: content of a wave.

use atoms_wave_view::{WaveFile, WaveInfo, matching_signals};

use crate::args::wave::WaveInfoArgs;
use crate::output::error::{CliError, Verdict, message};
use crate::output::{out, outln, print_json};
use crate::wave::{print_extent, print_notes};

pub(crate) fn info(args: &WaveInfoArgs) -> Result<Verdict, CliError> {
    let file = WaveFile::open(&args.wave)?;
    if let Some(pattern) = &args.signals {
        return list(&file, pattern, args.json);
    }
    let info = WaveInfo::of(&file)?;
    if args.json {
        print_json(&info.result())?;
        return Ok(Verdict::Agree);
    }
    out!("{}", info.text())?;
    print_extent(&file, &info.extent);
    Ok(Verdict::Agree)
}

fn list(file: &WaveFile, pattern: &str, as_json: bool) -> Result<Verdict, CliError> {
    print_notes(file, file.notes());
    let signals = matching_signals(file, pattern);
    if signals.is_empty() {
        let path = file.path().display();
        return Err(message!(
            "`{path}`: no signal matches `{pattern}`; `atoms wave info {path} --signals` lists all"
        ));
    }
    if as_json {
        print_json(&signals)?;
    } else {
        signals.iter().try_for_each(|signal| outln!("{signal}"))?;
    }
    Ok(Verdict::Agree)
}
