@testable import BodegaCommands
import Testing

@Suite("On a terminal")
struct ConsoleTests {

    @Test(
        "what it would obey is escaped",
        arguments: [
            ("plain é 😀", "plain é 😀"), ("a\nb\r\t", "a\\nb\\r\\t"), ("\u{1B}[31m", "\\u{1B}[31m"),
            ("\0\u{7F}\u{9B}", "\\u{0}\\u{7F}\\u{9B}"),
            ("\u{202E}txt", "\\u{202E}txt"),
        ]
    )
    func escapes(_ text: String, shown: String) {
        #expect(TerminalText.escaped(text) == shown)
    }

    @Test("a bar shows how much of a known size is done, and counts otherwise")
    func barText() {
        #expect(ProgressBar.line(items: 5, done: 50, of: 100).contains(" 50 %  5 items"))
        #expect(ProgressBar.line(items: 5, done: 200, of: 100).contains(" 100 %"))
        #expect(ProgressBar.line(items: 5, done: 50, of: nil) == "5 items")
        #expect(ProgressBar.line(items: 5, done: 0, of: 0) == "5 items")
    }

    @Test("a bar is drawn and removed; elsewhere, and when quiet, it is not drawn")
    func barDrawing() {
        for (isTerminal, isQuiet) in [(true, false), (false, false), (true, true)] {
            var test = TestConsole()
            test.console.isErrorTerminal = isTerminal
            var bar = ProgressBar(console: test.console, isQuiet: isQuiet)
            bar.update(items: 1, done: 1, of: nil)
            bar.clear()
            #expect(test.errors.text == (isTerminal && !isQuiet ? "\r1 items\u{1B}[K\r\u{1B}[K" : ""))
        }
    }
}
