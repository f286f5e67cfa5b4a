import Foundation

/// The files for the results of a run.
struct Outputs {
    private let html: URL?
    private let json: URL?
    private let isJSONOnOutput: Bool

    /// Checks that the files can be written, before a run that takes minutes.
    ///
    /// - Parameters:
    ///   - html: The path of the report, `nil` for none.
    ///   - json: The path of the results, `nil` for none; `-` is standard output.
    /// - Throws: A ``ProfilerError`` with the reason.
    init(html: String?, json: String?) throws {
        self.html = try html.map(Self.checked)
        isJSONOnOutput = json == "-"
        self.json = isJSONOnOutput ? nil : try json.map(Self.checked)
    }

    /// Checks that a file can be written.
    static func checked(_ path: String) throws -> URL {
        let url = URL(fileURLWithPath: path)
        let folder = url.deletingLastPathComponent().path
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder), isFolder.boolValue {
            throw ProfilerError("\(path) is a folder. Choose a file.")
        }
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            throw ProfilerError("The folder \(folder) does not exist. Create it first.")
        }
        guard FileManager.default.isWritableFile(atPath: folder) else {
            throw ProfilerError("\(path) can't be written: the folder is not writable.")
        }
        return url
    }

    /// Writes the files. Prints the table unless the results go to standard output.
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

    /// Writes a file atomically and reports it.
    static func write(_ data: Data, to url: URL) throws {
        do {
            try data.write(to: url, options: .atomic)
        } catch {
            throw ProfilerError("\(url.path) can't be written: \(reason(error))")
        }
        Terminal.standard(.standardError).write("Wrote \(url.relativePath)\n")
    }
}
