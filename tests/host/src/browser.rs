//! Real browser without a display, driven by its DevTools protocol.
//!
//! The tests need a dozen commands of the protocol, in sequence, so two pipes and JSON are enough. Existing
//! drivers need an asynchronous runtime or download browsers.

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

/// Time limit of a command, generous for a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Modifier key held during an event, with its code in the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    Nothing = 0,
    Ctrl = 2,
    Shift = 8,
}

/// Page in a private browser. The browser and its processes end when this value is dropped, also after a
/// panic. If the test process is killed, the browser ends because its pipes close.
#[derive(Debug)]
pub struct Browser {
    process: Child,
    commands: Option<ChildStdin>,
    answers: Receiver<Value>,
    errors_of_process: Option<std::thread::JoinHandle<String>>,
    session: String,
    profile: PathBuf,
    sent: u64,
    pub errors: Vec<String>,
    pub requests: Vec<String>,
    loaded: bool,
}

impl Browser {
    /// Starts a browser with a window of this size. `name` distinguishes its profile from those of other
    /// tests. Returns None if no browser is available. The caller then skips its test.
    ///
    /// This and the other methods panic if the browser fails or does not answer.
    ///
    /// # Panics
    /// The browser does not start.
    pub fn start(name: &str, width: u32, height: u32) -> Option<Browser> {
        let program = programs::BROWSER.find()?;
        let profile = programs::memory().join(format!("browser-{name}-{}", std::process::id()));
        // The browser reads commands from descriptor 3 and writes answers to descriptor 4. The command may be
        // a script that starts the browser, so it gets its own process group.
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
        // Drains stderr, because a full pipe would block the browser.
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

    pub fn size(&mut self, width: u32, height: u32) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    pub fn open(&mut self, file: &Path) {
        self.loaded = false;
        let answer = self.call("Page.navigate", json!({"url": format!("file://{}", file.display())}));
        assert_eq!(answer.get("errorText"), None, "{} opens", file.display());
        while !self.loaded {
            self.read();
        }
    }

    /// Evaluates an expression, and waits if its value is a promise.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let what = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", what);
        assert_eq!(answer.get("exceptionDetails"), None, "{expression}");
        answer["result"]["value"].clone()
    }

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

    pub fn drag(&mut self, places: &[[f64; 2]], held: Held) {
        let event = |kind: &str, [x, y]: [f64; 2]| json!({"type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1, "modifiers": held as u32});
        let (Some(first), Some(last)) = (places.first(), places.last()) else { return };
        self.call("Input.dispatchMouseEvent", event("mousePressed", *first));
        for place in &places[1..] {
            self.call("Input.dispatchMouseEvent", event("mouseMoved", *place));
        }
        self.call("Input.dispatchMouseEvent", event("mouseReleased", *last));
    }

    /// Turns the mouse wheel at a place in the window. `down` is in pixels.
    pub fn wheel(&mut self, [x, y]: [f64; 2], down: i32, held: Held) {
        let wheel = json!({"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": down, "modifiers": held as u32});
        self.call("Input.dispatchMouseEvent", wheel);
    }

    /// Sets the preferred colour scheme: `light` or `dark`.
    pub fn colours(&mut self, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", json!({"features": features}));
    }

    pub fn picture(&mut self) -> Vec<u8> {
        let answer = self.call("Page.captureScreenshot", json!({"format": "png"}));
        STANDARD.decode(answer["data"].as_str().expect("a picture")).expect("base64")
    }

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

    fn close(&mut self) {
        self.session.clear();
        self.call("Browser.close", json!({}));
        drop(self.commands.take());
        let begun = Instant::now();
        while self.process.try_wait().expect("it was started").is_none() && begun.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Returns a filter for the browser's processes: by process group, or by profile in the arguments.
    pub fn is_own(&self) -> impl Fn(&Process) -> bool + use<> {
        let (group, profile) = (self.process.id(), self.profile.display().to_string());
        move |process| process.group == group || process.words.contains(&profile)
    }

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

    /// The browser exits after its command pipe closes, as when the test process is killed.
    #[test]
    #[ignore = "nightly: starts a browser"]
    fn a_browser_ends_with_its_pipes() {
        let Some(mut browser) = Browser::start("pipes", 800, 600) else { return };
        drop(browser.commands.take());
        assert_eq!(processes::left(browser.is_own()), []);
        // The browser has exited, so drop must not close it.
        browser.kill();
        std::mem::forget(browser);
    }
}
