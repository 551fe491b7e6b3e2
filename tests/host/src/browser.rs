//! A real browser without a display, driven over its DevTools protocol.
//!
//! Of the protocol we need a dozen commands, one after the other: two pipes and JSON say them. What else
//! there is to drive browsers brings an asynchronous runtime, or downloads browsers.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::processes::{self, Process, Signal};
use crate::programs;

/// How long a command may take on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(60);

/// A key that is held meanwhile, as the protocol calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// None is.
    Nothing = 0,
    /// Ctrl is.
    Ctrl = 2,
    /// Shift is.
    Shift = 8,
}

/// A page in a browser of its own. The browser and all of its processes end with it: when it is closed,
/// when the test panics, and when the test process is killed, since the browser ends with its pipes.
#[derive(Debug)]
pub struct Browser {
    process: Child,
    commands: Option<ChildStdin>,
    answers: Receiver<Value>,
    errors_of_process: Option<std::thread::JoinHandle<String>>,
    session: String,
    profile: PathBuf,
    sent: u64,
    /// Errors of scripts and on the console.
    pub errors: Vec<String>,
    /// Addresses that were asked for.
    pub requests: Vec<String>,
    loaded: bool,
}

impl Browser {
    /// Starts a browser with a window of this size; `name` tells its profile from those of other tests.
    /// `None` when there is no browser, and the test is to be skipped.
    ///
    /// Here and below, what a browser does not do or say is a panic.
    ///
    /// # Panics
    /// When the browser does not start.
    pub fn start(name: &str, width: u32, height: u32) -> Option<Browser> {
        let program = programs::BROWSER.find()?;
        let profile = programs::memory().join(format!("browser-{name}-{}", std::process::id()));
        // A browser that is driven over pipes reads from 3 and writes to 4. It leads a group, since the
        // command may be a script that starts the browser.
        let mut process = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null", "sh", &program])
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
            ])
            .args(["--hide-scrollbars", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg("about:blank")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a shell starts");
        let commands = process.stdin.take();
        let answers = BufReader::new(process.stdout.take().expect("stdout is piped"));
        let mut said = process.stderr.take().expect("stderr is piped");
        // What it says must not fill the pipe.
        let errors_of_process = std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = said.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            for message in answers.split(0).map_while(Result::ok) {
                let value = serde_json::from_slice(&message).expect("the browser speaks JSON");
                if sender.send(value).is_err() {
                    break;
                }
            }
        });
        let mut browser = Browser {
            process,
            commands,
            answers: receiver,
            errors_of_process: Some(errors_of_process),
            session: String::new(),
            profile,
            sent: 0,
            errors: Vec::new(),
            requests: Vec::new(),
            loaded: false,
        };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let attached =
            browser.call("Target.attachToTarget", json!({"targetId": target["targetId"], "flatten": true}));
        browser.session = attached["sessionId"].as_str().expect("a session").into();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser.size(width, height);
        Some(browser)
    }

    /// Size of the window.
    pub fn size(&mut self, width: u32, height: u32) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// Opens a file, and waits until it is loaded.
    pub fn open(&mut self, file: &Path) {
        self.loaded = false;
        let answer = self.call("Page.navigate", json!({"url": format!("file://{}", file.display())}));
        assert_eq!(answer.get("errorText"), None, "{} opens", file.display());
        while !self.loaded {
            self.read();
        }
    }

    /// The value of an expression; promises are waited for.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let what = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", what);
        assert_eq!(answer.get("exceptionDetails"), None, "{expression}");
        answer["result"]["value"].clone()
    }

    /// Scrolls an element into view and clicks into the middle of it, as a hand would.
    pub fn click(&mut self, selector: &str) {
        let selector = json!(selector);
        let place = self.evaluate(&format!(
            "(() => {{ const e = document.querySelector({selector}); if (!e) return null;
             e.scrollIntoView({{block: 'center'}}); const r = e.getBoundingClientRect();
             return [r.x + r.width / 2, r.y + r.height / 2]; }})()"
        ));
        assert!(place.is_array(), "there is no {selector}");
        for event in ["mousePressed", "mouseReleased"] {
            let click =
                json!({"type": event, "x": place[0], "y": place[1], "button": "left", "clickCount": 1});
            self.call("Input.dispatchMouseEvent", click);
        }
    }

    /// Presses the left button of the mouse at one place of the window and releases it at the last, by way of all.
    pub fn drag(&mut self, places: &[[f64; 2]], held: Held) {
        let event = |kind: &str, [x, y]: [f64; 2]| json!({"type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1, "modifiers": held as u32});
        let (Some(first), Some(last)) = (places.first(), places.last()) else { return };
        self.call("Input.dispatchMouseEvent", event("mousePressed", *first));
        for place in &places[1..] {
            self.call("Input.dispatchMouseEvent", event("mouseMoved", *place));
        }
        self.call("Input.dispatchMouseEvent", event("mouseReleased", *last));
    }

    /// Turns the wheel over a place of the window, by pixels downwards.
    pub fn wheel(&mut self, [x, y]: [f64; 2], down: i32, held: Held) {
        let wheel = json!({"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": down, "modifiers": held as u32});
        self.call("Input.dispatchMouseEvent", wheel);
    }

    /// Whether pages are to be light or dark: `light` or `dark`.
    pub fn colours(&mut self, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", json!({"features": features}));
    }

    /// Takes a picture of the window, as PNG.
    pub fn picture(&mut self) -> Vec<u8> {
        let answer = self.call("Page.captureScreenshot", json!({"format": "png"}));
        STANDARD.decode(answer["data"].as_str().expect("a picture")).expect("base64")
    }

    /// Presses a key where the focus is.
    pub fn press(&mut self, key: &str, code: u32, text: &str) {
        let base = json!({"key": key, "code": key, "windowsVirtualKeyCode": code});
        for event in ["keyDown", "keyUp"] {
            let mut press = base.clone();
            press["type"] = event.into();
            if event == "keyDown" && !text.is_empty() {
                press["text"] = text.into();
            }
            self.call("Input.dispatchKeyEvent", press);
        }
    }

    /// A command and its answer.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.sent += 1;
        let id = self.sent;
        let mut message = json!({"id": id, "method": method, "params": params});
        if !self.session.is_empty() {
            message["sessionId"] = self.session.as_str().into();
        }
        let commands = self.commands.as_mut().expect("it is open until the browser is closed");
        if commands.write_all(format!("{message}\0").as_bytes()).and_then(|()| commands.flush()).is_err() {
            self.fail(&format!("the browser takes no {method}"));
        }
        loop {
            let answer = self.read();
            if answer["id"] == id {
                assert_eq!(answer.get("error"), None, "{method}");
                return answer["result"].clone();
            }
        }
    }

    /// The next message; events are noted.
    fn read(&mut self) -> Value {
        let Ok(value) = self.answers.recv_timeout(PATIENCE) else {
            self.fail(&format!("no answer of the browser in {} s", PATIENCE.as_secs()));
        };
        let params = &value["params"];
        match value["method"].as_str().unwrap_or_default() {
            "Runtime.exceptionThrown" => self.errors.push(params["exceptionDetails"].to_string()),
            "Runtime.consoleAPICalled" if params["type"] == "error" || params["type"] == "warning" => {
                self.errors.push(params["args"].to_string());
            }
            "Log.entryAdded" if params["entry"]["level"] == "error" => {
                self.errors.push(params["entry"].to_string())
            }
            "Network.requestWillBeSent" => {
                self.requests.push(params["request"]["url"].as_str().unwrap_or_default().into());
            }
            "Page.loadEventFired" => self.loaded = true,
            _ => {}
        }
        value
    }

    /// Ends the browser as its user would.
    fn close(&mut self) {
        self.session.clear();
        self.call("Browser.close", json!({}));
        drop(self.commands.take());
        let begun = Instant::now();
        while self.process.try_wait().expect("it was started").is_none() && begun.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Its processes: those of its group, and any that left the group but work with its profile.
    pub fn is_own(&self) -> impl Fn(&Process) -> bool + use<> {
        let (group, profile) = (self.process.id(), self.profile.display().to_string());
        move |process| process.group == group || process.words.contains(&profile)
    }

    /// Kills what there is of it, and gives what is left all the same.
    fn kill(&mut self) -> Vec<Process> {
        processes::signal_group(self.process.id(), Signal::KILL);
        for process in processes::running(self.is_own()) {
            processes::signal(process.pid, Signal::KILL);
        }
        let _ = self.process.wait();
        let left = processes::left(self.is_own());
        let _ = std::fs::remove_dir_all(&self.profile);
        left
    }

    /// Panics with what the browser said on stderr.
    fn fail(&mut self, what: &str) -> ! {
        self.kill();
        let said = self.errors_of_process.take().and_then(|thread| thread.join().ok());
        panic!("{what}: {}", said.unwrap_or_default());
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let ends_well = !std::thread::panicking();
        if ends_well {
            self.close();
        }
        let left = self.kill();
        assert!(left.is_empty() || !ends_well, "processes of a browser that was ended: {left:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[ignore = "nightly: starts a browser"]
    fn a_browser_ends_with_all_of_its_processes() {
        let Some(mut browser) = Browser::start("ends", 800, 600) else { return };
        assert_eq!(browser.evaluate("1 + 1"), 2);
        let is_own = browser.is_own();
        let of_its_group = processes::running(|process| process.group == browser.process.id());
        assert!(processes::running(&is_own).len() > 2, "a browser is several processes");
        assert!(!of_its_group.is_empty(), "it leads a group");
        drop(browser);
        assert_eq!(processes::running(is_own), []);
    }

    #[test]
    #[ignore = "nightly: starts a browser"]
    fn a_browser_ends_with_a_test_that_panics() {
        let is_own = std::sync::Mutex::new(None);
        let panicked = std::panic::catch_unwind(|| {
            let browser = Browser::start("panics", 800, 600)?;
            *is_own.lock().expect("not poisoned") = Some(browser.is_own());
            std::panic::resume_unwind(Box::new("on purpose"));
            #[allow(unreachable_code)]
            Some(browser)
        });
        let Some(is_own) = is_own.into_inner().expect("not poisoned") else { return };
        assert_eq!(panicked.expect_err("it panics").downcast_ref(), Some(&"on purpose"));
        assert_eq!(processes::running(is_own), []);
    }

    /// The browser goes away by itself when the process that drives it cannot end it.
    #[test]
    #[ignore = "nightly: starts a browser"]
    fn a_browser_ends_with_its_pipes() {
        let Some(mut browser) = Browser::start("pipes", 800, 600) else { return };
        drop(browser.commands.take());
        assert_eq!(processes::left(browser.is_own()), []);
        // There is nothing to be closed.
        browser.kill();
        std::mem::forget(browser);
    }
}
