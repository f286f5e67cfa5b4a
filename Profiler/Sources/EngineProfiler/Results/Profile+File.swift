import Foundation

extension Profile {

    /// Reads a file of results.
    ///
    /// - Parameter path: Where the file is.
    /// - Throws: A ``ProfilerError`` that says what is wrong with it.
    init(path: String) throws {
        let data: Data
        do {
            data = try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw ProfilerError("\(path) can't be read: \(reason(error))")
        }
        try self.init(json: data, name: path)
    }

    /// Reads results.
    ///
    /// - Parameters:
    ///   - json: What ``json()`` has written.
    ///   - name: What errors call it.
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
                "\(name) holds no results of the profiler that can be read, maybe because it was cut off: \(error)")
        }
        guard form.format == Self.formatName else {
            throw ProfilerError("\(name) holds no results of the profiler. Make some by run --json.")
        }
        guard form.version == Self.currentVersion else {
            let version = form.version.map { "version \($0)" } ?? "no version"
            throw ProfilerError(
                "\(name) has \(version) of the form of results, but this profiler reads version "
                    + "\(Self.currentVersion). Read it with the profiler that has written it, or measure again.")
        }
        do {
            self = try decoder.decode(Self.self, from: json)
        } catch {
            throw ProfilerError("\(name) is damaged: \(error)")
        }
    }

    /// The results as JSON, with its members in the order of their names.
    func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self) + Data("\n".utf8)
    }
}

/// An error of the profiler itself, such as a file that can't be read.
struct ProfilerError: Error, CustomStringConvertible, Equatable {
    /// What happened and what to do.
    let description: String

    /// Describes an error.
    init(_ description: String) {
        self.description = description
    }
}

/// What the system says about a failure, in a few words.
func reason(_ error: any Error) -> String {
    #if canImport(Darwin)
    error.localizedDescription
    #else
    // Foundation's text is about an operation that could not be completed.
    switch (error as? CocoaError)?.code {
    case .fileReadNoSuchFile, .fileNoSuchFile: "there is no such file or folder."
    case .fileReadNoPermission, .fileWriteNoPermission: "permission denied."
    case .fileWriteOutOfSpace: "the volume is full."
    default: "\(error)"
    }
    #endif
}
