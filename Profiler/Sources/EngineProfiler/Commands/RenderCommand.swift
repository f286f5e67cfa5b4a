import ArgumentParser
import Foundation

/// `profiler render`: makes a report of results.
struct RenderCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "render",
        abstract: "Makes a report of one or more files of results.",
        discussion: """
            Engines of several files stand side by side; those of one name are told apart by the names of their files.

            Example:
              profiler render laptop.json server.json --html both.html
            """
    )

    @Argument(help: "Files that run --json has written.")
    var results: [String]

    @Option(help: ArgumentHelp("Where to write the report; - is standard output.", valueName: "file"))
    var html = "profile.html"

    func run() throws {
        let url = html == "-" ? nil : try Outputs.checked(html)
        var profiles = try results.map { try Profile(path: $0) }
        Profile.tellApart(
            &profiles, names: results.map { URL(fileURLWithPath: $0).deletingPathExtension().lastPathComponent })
        let report = Data(Report(profiles: profiles).html.utf8)
        if let url {
            try Outputs.write(report, to: url)
        } else {
            try FileHandle.standardOutput.write(contentsOf: report)
        }
    }
}
