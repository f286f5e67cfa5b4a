#if CommandLineTool
@testable import BodegaCommands
import Foundation
import TestSupport
import Testing

@Suite("Arguments that are not UTF-8")
struct ArgumentTextTests {

    @Test("are refused as keys and as paths, and nothing is changed")
    func refused() async throws {
        try await withFolder { folder in
            // In octal, because a shell's printf need not know hexadecimal escapes: é and è in Latin-1.
            let script = #"""
                cd "$2" || exit 99
                run() { printf x | "$1" "${@:2}"; echo "$? "; }
                for key in "$(printf 'caf\351')" "$(printf 'caf\350')"; do
                    run "$1" put k.db "$key"
                    run "$1" get k.db "$key"
                    run "$1" rm k.db "$key"
                    run "$1" put "$key.db" key
                    run "$1" put -- k.db "$key"
                done
                run "$1" put k.db "$(printf 'caf\303\251')"
                """#
            let process = Process()
            let (output, errors) = (Pipe.separate(), folder.appendingPathComponent("errors"))
            try Data().write(to: errors)
            process.executableURL = URL(fileURLWithPath: "/bin/bash")
            process.arguments = ["-c", script, "bash", BinaryTests.program.path, folder.path]
            process.standardOutput = output
            process.standardError = try FileHandle(forWritingTo: errors)
            try process.start()
            let text = String(decoding: await process.output(output), as: UTF8.self)
            #expect(text.split(whereSeparator: \.isWhitespace) == Array(repeating: "64", count: 10) + ["0"])
            let lines = try String(contentsOf: errors, encoding: .utf8).split(separator: "\n")
            try #require(lines.count == 10)
            #expect(lines[0].hasPrefix(#"bodega: Argument 3, $'caf\xe9', is not valid UTF-8"#))
            #expect(lines[5].hasPrefix(#"bodega: Argument 3, $'caf\xe8', is not valid UTF-8"#))
            #expect(lines[3].hasPrefix(#"bodega: Argument 2, $'caf\xe9.db', is not valid UTF-8"#))
            #expect(await bodega("ls", folder.path + "/k.db").text == "café\n")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["errors", "k.db"])
        }
    }

    @Test("are not shown if they may contain a password")
    func secret() throws {
        let address = Array("postgres://user:secret@host/\u{E9}".utf8.dropLast())
        #expect {
            try ArgumentText.decoded([address])
        } throws: { error in
            let message = "\(error)"
            return message.hasPrefix("Argument 1 is not valid UTF-8") && !message.contains("secret")
        }
        #expect(try ArgumentText.decoded([Array("é".utf8), []]) == ["é", ""])
    }
}
#endif
