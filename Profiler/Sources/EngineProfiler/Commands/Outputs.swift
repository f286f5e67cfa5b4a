import Foundation

/// Where results go.
struct Outputs {
    private let html: URL?
    private let json: URL?
    private let isJSONOnOutput: Bool

    /// Makes sure that files can be written, before a run that takes minutes.
    ///
    /// - Parameters:
    ///   - html: Where the report goes, `nil` for none.
    ///   - json: Where the results go, `nil` for nowhere; `-` is standard output.
    /// - Throws: A ``ProfilerError`` that says what is in the way.
    init(html: String?, json: String?) throws {
        self.html = try html.map(Self.checked)
        isJSONOnOutput = json == "-"
        self.json = isJSONOnOutput ? nil : try json.map(Self.checked)
    }

    /// Makes sure that a file can be written.
    static func checked(_ path: String) throws -> URL {
        let url = URL(fileURLWithPath: path)
        let folder = url.deletingLastPathComponent().path
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder), isFolder.boolValue {
            throw ProfilerError("\(path) is a folder. Name a file.")
        }
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            throw ProfilerError("There is no folder \(folder). Make it first.")
        }
        guard FileManager.default.isWritableFile(atPath: folder) else {
            throw ProfilerError("\(path) can't be written: the folder does not allow it.")
        }
        return url
    }

    /// Writes the files, and the table unless standard output is taken.
    func write(_ profile: Profile) throws {
        if isJSONOnOutput {
            try FileHandle.standardOutput.write(contentsOf: try profile.json())
        } else {
            let terminal = Terminal.standard(.standardOutput)
            terminal.write(
                ProfileTable(profile: profile, terminal: terminal).lines.map { $0 + "\n" }.joined())
        }
        if let json { try Self.write(try profile.json(), to: json) }
        if let html { try Self.write(Data(Report(profiles: [profile]).html.utf8), to: html) }
    }

    /// Writes a file whole or not at all, and says so.
    static func write(_ data: Data, to url: URL) throws {
        do {
            try data.write(to: url, options: .atomic)
        } catch {
            throw ProfilerError("\(url.path) can't be written: \(reason(error))")
        }
        Terminal.standard(.standardError).write("Wrote \(url.relativePath)\n")
    }
}
