/** What commands of all modules share: how they end, and how the command line finds those of other modules. */
package io.flowlag.common.command;
