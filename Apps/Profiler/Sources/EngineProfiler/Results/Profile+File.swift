import Foundation

extension Profile {

    /// Reads a file of results.
    ///
    /// - Parameter path: The path of the file.
    /// - Throws: A ``ProfilerError`` with the reason if the file can't be read.
    init(path: String) throws {
        let data: Data
        do {
            data = try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw ProfilerError("\(path) can't be read: \(reason(error))")
        }
        try self.init(json: data, name: path)
    }

    /// Decodes results.
    ///
    /// - Parameters:
    ///   - json: The output of ``json()``.
    ///   - name: The name of the file in errors.
    init(json: Data, name: String) throws {
        struct Form: Decodable {
            var format: String?
            var version: Int?
        }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let form: Form
        do {
            form = try decoder.decode(Form.self, from: json)
        } catch {
            throw ProfilerError(
                "\(name) is not a file of results that can be read. It may be truncated: \(error)")
        }
        guard form.format == Self.formatName else {
            throw ProfilerError("\(name) is not a file of results. Create one with run --json.")
        }
        guard form.version == Self.currentVersion else {
            let version = form.version.map { "version \($0)" } ?? "no version"
            throw ProfilerError(
                "\(name) has \(version) of the file format, but this profiler reads version "
                    + "\(Self.currentVersion). Read it with the profiler that wrote it, or measure again.")
        }
        do {
            self = try decoder.decode(Self.self, from: json)
        } catch {
            throw ProfilerError("\(name) is damaged: \(error)")
        }
    }

    /// The results as JSON with sorted members.
    func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self) + Data("\n".utf8)
    }
}

/// An error of the profiler itself, such as a file that can't be read.
struct ProfilerError: Error, CustomStringConvertible, Equatable {
    /// The message.
    let description: String

    /// Creates an error.
    init(_ description: String) {
        self.description = description
    }
}

/// A short reason for an error of the system.
func reason(_ error: any Error) -> String {
    #if canImport(Darwin)
    error.localizedDescription
    #else
    // Foundation's own text only says that an operation could not be completed.
    switch (error as? CocoaError)?.code {
    case .fileReadNoSuchFile, .fileNoSuchFile: "the file or folder does not exist."
    case .fileReadNoPermission, .fileWriteNoPermission: "permission denied."
    case .fileWriteOutOfSpace: "the volume is full."
    default: "\(error)"
    }
    #endif
}
