import Foundation

// The snippets of CodableStoreKit's README, as programs. They run in a separate process, because they store data in the
// user's folders, which its environment determines. The argument is the name of a program, which prints what happens.
// Code that prints nothing only has to compile.
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
case "after-main-loop": observeAfterMainLoop()
case "blocked": observeWithoutMainLoop()
default: fatalError("No such program: \(CommandLine.arguments)")
}
