import Foundation

// The snippets of CodableStoreKit's README, as programs. They run in this process because they keep their data in the
// user's folders, and its environment says where these are. The argument is the name of a program; its output is what
// happens. What says nothing is there to compile.
switch CommandLine.arguments.dropFirst().first {
case "use": try useStore()
case "find": try findAfterRelaunch()
case "engines": try useEngines()
case "containers": try useContainers()
case "default": try chooseDefault()
case "conveniences": try useConveniences()
case "observe": try observeStore()
case "views": try narrowStore()
case "main-loop": observeInMainLoop()
case "blocked": observeWithoutMainLoop()
default: fatalError("No such program: \(CommandLine.arguments)")
}
