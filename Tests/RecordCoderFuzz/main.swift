import Foundation

// Mutates JSON documents at random, and checks that `RecordDecoder` decodes them like Foundation, and that Foundation
// decodes the output of `RecordEncoder` to the same value.
do {
    let options = try Options(CommandLine.arguments.dropFirst())
    if options.wantsHelp {
        say(Options.help)
        exit(0)
    }
    say("fuzzing: --mutations \(options.mutations) --seed \(options.seed) --first \(options.first)")
    let campaign = Campaign(options)
    let difference = campaign.run()
    say(campaign.summary)
    if let difference {
        say(difference)
        exit(1)
    }
} catch let error as Options.Misuse {
    FileHandle.standardError.write(Data("RecordCoderFuzz: \(error.message) Try --help.\n".utf8))
    exit(64)
}
