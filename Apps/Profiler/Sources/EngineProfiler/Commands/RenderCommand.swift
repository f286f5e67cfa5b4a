import ArgumentParser
import Foundation

/// `profiler render`: creates a report from results.
struct RenderCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "render",
        abstract: "Creates a report from one or more files of results.",
        discussion: """
            Engines of several files are shown side by side. Engines with the same name are distinguished by their \
            files.

            Example:
              profiler render laptop.json server.json --html both.html
            """
    )

    @Argument(help: "Files written by run --json.")
    var results: [String]

    @Option(help: ArgumentHelp("The file for the report; - is standard output.", valueName: "file"))
    var html = "profile.html"

    func run() throws {
        let url = html == "-" ? nil : try Outputs.checked(html)
        var profiles = try results.map { try Profile(path: $0) }
        Profile.disambiguate(
            &profiles, names: results.map { URL(fileURLWithPath: $0).deletingPathExtension().lastPathComponent })
        let report = Data(Report(profiles: profiles).html.utf8)
        if let url {
            try Outputs.write(report, to: url)
        } else {
            try FileHandle.standardOutput.write(contentsOf: report)
        }
    }
}
