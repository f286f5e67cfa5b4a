import Foundation

// User input: clicks, keys, and changes of the window.
extension Tab {

    /// Clicks the centre of an element. It must exist and must not be covered.
    package func click(_ selector: String) async throws {
        struct Point: Decodable, Sendable { let x, y: Double }
        let point = try await evaluate(
            """
            (() => {
                const element = document.querySelector(\(Tab.quoted(selector)));
                if (!element) throw new Error("There is no " + \(Tab.quoted(selector)));
                element.scrollIntoView({ block: "center", behavior: "instant" });
                const box = element.getBoundingClientRect();
                const point = { x: box.left + box.width / 2, y: box.top + box.height / 2 };
                const top = document.elementFromPoint(point.x, point.y);
                if (!element.contains(top)) throw new Error(
                    \(Tab.quoted(selector)) + " is covered by " + (top?.outerHTML ?? "nothing"));
                return point;
            })()
            """,
            as: Point.self
        )
        for type in ["mousePressed", "mouseReleased"] {
            try await send(
                "Input.dispatchMouseEvent",
                ["type": type, "x": point.x, "y": point.y, "button": "left", "clickCount": 1])
        }
    }

    /// Types a text into the element that has the focus.
    package func type(_ text: String) async throws {
        try await send("Input.insertText", ["text": text])
    }

    /// A key of the keyboard.
    package enum Key: String {
        case tab = "Tab"
        case enter = "Enter"
        case escape = "Escape"

        fileprivate var code: Int {
            switch self {
            case .tab: 9
            case .enter: 13
            case .escape: 27
            }
        }
    }

    /// Presses and releases a key.
    package func press(_ key: Key) async throws {
        var down: [String: any Sendable] = [
            "key": key.rawValue, "code": key.rawValue, "windowsVirtualKeyCode": key.code,
        ]
        down["type"] = "keyDown"
        if key == .enter { down["text"] = "\r" }
        try await send("Input.dispatchKeyEvent", down)
        try await send(
            "Input.dispatchKeyEvent",
            ["type": "keyUp", "key": key.rawValue, "code": key.rawValue, "windowsVirtualKeyCode": key.code])
    }

    /// Presses Tab until an element has the focus, as keyboard users do.
    ///
    /// - Throws: An error if no press of Tab reaches the element.
    package func tab(to selector: String) async throws {
        for _ in 0..<60 {
            try await press(.tab)
            let isThere = try await evaluate(
                "document.activeElement.matches(\(Tab.quoted(selector)))", as: Bool.self)
            if isThere { return }
        }
        throw Browser.Refusal(description: "Tab does not reach \(selector).")
    }

    /// Makes the tab the visible one of its window.
    package func bringToFront() async throws {
        try await send("Page.bringToFront")
        try await wait(for: "!document.hidden")
    }

    /// Resizes the window.
    package func resize(_ width: Int, _ height: Int, isPhone: Bool = false) async throws {
        try await send(
            "Emulation.setDeviceMetricsOverride",
            ["width": width, "height": height, "deviceScaleFactor": isPhone ? 2 : 1, "mobile": isPhone])
    }

    /// Sets the colour scheme of the system to light or dark.
    package func setColorScheme(_ scheme: String) async throws {
        let feature: [String: any Sendable] = ["name": "prefers-color-scheme", "value": scheme]
        try await send("Emulation.setEmulatedMedia", ["features": [feature]])
    }

    /// Writes a screenshot to a file after all pictures have loaded.
    ///
    /// The folder is the value of `SCREENSHOTS` in the environment, or `Apps/.build/screenshots`.
    package func screenshot(_ name: String) async throws {
        struct Screenshot: Decodable, Sendable { let data: String }
        try await wait(for: "[...document.images].every((image) => image.loading === 'lazy' || image.complete)")
        let shot = try await send("Page.captureScreenshot", ["format": "png"], returning: Screenshot.self)
        guard let png = Data(base64Encoded: shot.data) else {
            throw Browser.Refusal(description: "The screenshot is not valid base64.")
        }
        let folder = Self.screenshots
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try png.write(to: folder.appendingPathComponent("\(name).png"))
    }

    private static let screenshots: URL = {
        if let folder = ProcessInfo.processInfo.environment["SCREENSHOTS"], !folder.isEmpty {
            return URL(fileURLWithPath: folder, isDirectory: true)
        }
        let package = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        return package.appendingPathComponent(".build/screenshots", isDirectory: true)
    }()
}
