//! Settings of the stand-in, from environment variables.

use crate::status::{INVALID_VALUE, NO_DEVICE, Refusal, Status};
use atoms_isa::Arch;
use std::time::Duration;

/// Properties and faults of the device; see the crate documentation.
#[derive(Debug, PartialEq)]
pub(crate) struct Settings {
    pub(crate) capability: (u32, u32),
    pub(crate) arch: Arch,
    pub(crate) init: Option<Status>,
    pub(crate) old_driver: bool,
    pub(crate) link: Option<Status>,
    /// Value of the compute mode (`CUcomputemode`).
    pub(crate) compute_mode: i32,
    pub(crate) mig: bool,
    pub(crate) out_of_memory: bool,
    pub(crate) slow: Duration,
    pub(crate) hang: Option<u64>,
    pub(crate) fault: Option<u64>,
    pub(crate) flip: Option<u64>,
}

const CAPABILITY: &str = "9.0";

impl Settings {
    /// Reads the values of `ATOMS_STANDIN_CC` and `ATOMS_STANDIN_TROUBLE`. `None` means not set.
    pub(crate) fn read(capability: Option<&str>, troubles: Option<&str>) -> Result<Settings, Refusal> {
        let (capability, arch) = device(capability.unwrap_or(CAPABILITY))?;
        let mut settings = Settings {
            capability,
            arch,
            init: None,
            old_driver: false,
            link: None,
            compute_mode: 0,
            mig: false,
            out_of_memory: false,
            slow: Duration::ZERO,
            hang: None,
            fault: None,
            flip: None,
        };
        for trouble in troubles.unwrap_or("").split(',').map(str::trim).filter(|trouble| !trouble.is_empty())
        {
            settings.order(trouble)?;
        }
        Ok(settings)
    }

    fn order(&mut self, trouble: &str) -> Result<(), Refusal> {
        let number = |text: &str| {
            text.parse::<u32>().map_err(|_| {
                Refusal::new(
                    INVALID_VALUE,
                    format!("ATOMS_STANDIN_TROUBLE: `{trouble}`; expected a number after `=`"),
                )
            })
        };
        match trouble.split_once('=').map_or((trouble, None), |(name, value)| (name, Some(value))) {
            ("no-device", None) => self.init = Some(NO_DEVICE),
            ("init", Some(code)) => self.init = Some(number(code)?),
            ("old-driver", None) => self.old_driver = true,
            ("old-gpu", None) => (self.capability, self.arch) = device("5.2")?,
            ("link", Some(code)) => self.link = Some(number(code)?),
            ("exclusive", None) => self.compute_mode = 3,
            ("prohibited", None) => self.compute_mode = 2,
            ("mig", None) => self.mig = true,
            ("out-of-memory", None) => self.out_of_memory = true,
            ("slow", Some(ms)) => self.slow = Duration::from_millis(number(ms)?.into()),
            ("hang", Some(launch)) => self.hang = Some(number(launch)?.into()),
            ("fault", Some(launch)) => self.fault = Some(number(launch)?.into()),
            ("flip", Some(read)) => self.flip = Some(number(read)?.into()),
            _ => {
                let reason =
                    format!("ATOMS_STANDIN_TROUBLE: unknown trouble `{trouble}`; an example is hang=1");
                return Err(Refusal::new(INVALID_VALUE, reason));
            }
        }
        Ok(())
    }

    /// CUDA version in the encoding of `cuDriverGetVersion`.
    pub(crate) fn driver_version(&self) -> i32 {
        if self.old_driver { 10010 } else { 13000 }
    }

    pub(crate) fn name(&self) -> &'static str {
        if self.mig { "ATOMS stand-in (model) MIG 1g.10gb" } else { "ATOMS stand-in (model)" }
    }
}

fn device(capability: &str) -> Result<((u32, u32), Arch), Refusal> {
    let read = || {
        let (major, minor) = capability.split_once('.')?;
        let arch = Arch::from_name(&format!("sm_{major}{minor}"))?;
        Some(((major.parse().ok()?, minor.parse().ok()?), arch))
    };
    read().ok_or_else(|| {
        let reason = format!("ATOMS_STANDIN_CC: `{capability}`; expected a compute capability, such as 9.0");
        Refusal::new(INVALID_VALUE, reason)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn troubles_are_a_list() {
        let settings = Settings::read(Some("12.0"), Some("mig, hang=2,slow=30")).unwrap();
        assert_eq!((settings.capability, settings.arch.number()), ((12, 0), 120));
        assert_eq!((settings.mig, settings.hang, settings.slow), (true, Some(2), Duration::from_millis(30)));
        assert_eq!(Settings::read(None, None).unwrap(), Settings::read(Some("9.0"), Some("")).unwrap());
    }

    #[test]
    fn what_is_no_setting_is_named() {
        for (capability, troubles, found) in [
            (Some("9"), None, "`9`"),
            (Some("90.0"), None, "`90.0`"),
            (None, Some("hang"), "`hang`"),
            (None, Some("mig,flip=x"), "`flip=x`"),
        ] {
            let refusal = Settings::read(capability, troubles).unwrap_err();
            assert!(refusal.reason.contains(found), "{refusal:?}");
        }
    }
}
