@testable import BodegaCommands
import Testing

@Suite("On a terminal")
struct ConsoleTests {

    @Test(
        "control characters are escaped",
        arguments: [
            ("plain é 😀", "plain é 😀"), ("a\nb\r\t", "a\\nb\\r\\t"), ("\u{1B}[31m", "\\u{1B}[31m"),
            ("\0\u{7F}\u{9B}", "\\u{0}\\u{7F}\\u{9B}"),
            ("\u{202E}txt", "\\u{202E}txt"),
        ]
    )
    func escapes(_ text: String, shown: String) {
        #expect(TerminalText.escaped(text) == shown)
    }

    @Test("a bar shows the share of a known size, else the count")
    func barText() {
        #expect(ProgressBar.line(items: 5, done: 50, of: 100).contains(" 50 %  5 items"))
        #expect(ProgressBar.line(items: 5, done: 200, of: 100).contains(" 100 %"))
        #expect(ProgressBar.line(items: 5, done: 50, of: nil) == "5 items")
        #expect(ProgressBar.line(items: 5, done: 0, of: 0) == "5 items")
    }

    @Test("a bar shows rate and remaining time after a second, if there is room")
    func barTime() {
        func line(_ done: Int, of total: Int? = 1000, seconds: Double, columns: Int? = nil) -> String {
            ProgressBar.line(items: done * 3, done: done, of: total, seconds: seconds, columns: columns)
        }
        #expect(line(100, seconds: 0.5).hasSuffix(" 10 %  300 items"))
        #expect(line(100, seconds: 10).hasSuffix(" 10 %  300 items  30/s  1 min 30 s left"))
        #expect(line(999, seconds: 10).hasSuffix("  299/s  1 s left"))
        #expect(line(1, seconds: 10).hasSuffix("  2 h 46 min left"))
        #expect(line(1, of: .max, seconds: 1e9).hasSuffix("  days left"))
        #expect(line(0, seconds: 10).hasSuffix(" 0 %  0 items"))
        #expect(line(100, of: nil, seconds: 10) == "300 items  30/s")
        for columns in 20...120 { #expect(line(123, seconds: 7, columns: columns).count < columns) }
        // At the usual width there is room for all of it.
        let long = ProgressBar.line(items: 1_000_000, done: 700, of: 1000, seconds: 1397, columns: 80)
        #expect(long.hasSuffix(" 70 %  1000000 items  715/s  9 min 59 s left") && long.count < 80)
    }

    @Test("a bar is drawn and removed; elsewhere, and when quiet, it is not drawn")
    func barDrawing() {
        for (isTerminal, isQuiet) in [(true, false), (false, false), (true, true)] {
            var test = TestConsole()
            test.console.isErrorTerminal = isTerminal
            var bar = ProgressBar(console: test.console, isQuiet: isQuiet)
            bar.update(items: 1, done: 1, of: nil)
            bar.clear()
            #expect(test.errors.text == (isTerminal && !isQuiet ? "\r1 item\u{1B}[K\r\u{1B}[K" : ""))
        }
    }
}
