import Foundation
import PostgresTesting

// Starts a server for a program that is not written in Swift or not part of this package, says where it is in one line of
// JSON, and stops and removes it when the input ends.
//
// Arguments: settings, each as NAME=VALUE.

/// What the line says.
struct Place: Encodable {
    let url: String
    let programs: String
    let socketFolder: String
    let port: Int
    let user: String
}

var settings: [String: String] = [:]
for argument in CommandLine.arguments.dropFirst() {
    let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
    guard parts.count == 2 else {
        FileHandle.standardError.write(Data("\"\(argument)\" is no setting. Write NAME=VALUE.\n".utf8))
        exit(64)
    }
    settings[parts[0]] = parts[1]
}
do {
    let server = try await PostgresServer.launch(settings: settings)
    let place = Place(
        url: server.url(),
        programs: server.programs.folder.path,
        socketFolder: server.socketFolder.path,
        port: server.port,
        user: PostgresServer.user
    )
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    FileHandle.standardOutput.write(try encoder.encode(place) + Data("\n".utf8))
    _ = FileHandle.standardInput.readDataToEndOfFile()
    try await server.remove()
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
